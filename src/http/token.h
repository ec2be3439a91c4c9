// The token that requests must carry if other machines can send them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dutiful::http {

class AccessToken {
 public:
  static constexpr std::size_t length_min = 16;
  static constexpr std::size_t length_max = 1024;

  // Takes visible ASCII characters, length_min to length_max of them. Throws std::invalid_argument
  // with a message that continues "the token …" and never contains the token.
  explicit AccessToken(std::string text);
  // Reads a file that contains the token, and perhaps a newline. A symbolic link is followed.
  // Throws FileRefused if the file belongs to another user or can be used by others; FileError if
  // it cannot be read or contains no token.
  [[nodiscard]] static AccessToken read(const std::string& path);

  // Whether the value of the header Authorization carries the token: `Bearer <token>`, or `Basic`
  // with the token as password and any user name. Takes as long for any wrong token.
  [[nodiscard]] bool admits(std::string_view authorization) const;

 private:
  [[nodiscard]] bool equals(std::string_view candidate) const;

  std::string text_;
};

// Decodes the base64 of RFC 4648 with padding; nothing if the text is anything else.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace dutiful::http
