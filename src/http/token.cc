#include "http/token.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/private_file.h"
#include "http/names.h"
#include "posix/descriptor.h"

namespace dutiful::http {
namespace {

bool is_visible(char c) {
  return c > ' ' && c < '\x7f';
}

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

void check_mode(const std::string& path, int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) {
    throw FileError(path, std::string{"cannot be inspected: "} + std::strerror(errno));
  }
  constexpr mode_t others = S_IRWXG | S_IRWXO;
  if ((status.st_mode & others) == 0) return;
  throw FileRefused(path,
                    "can be used by other users; run: chmod 600, and choose another token",
                    "the file with the token can be used by other users",
                    user_name(status.st_uid));
}

}  // namespace

AccessToken::AccessToken(std::string text) : text_(std::move(text)) {
  if (text_.size() < length_min || text_.size() > length_max) {
    throw std::invalid_argument("must have " + std::to_string(length_min) + " to " +
                                std::to_string(length_max) + " characters, not " +
                                std::to_string(text_.size()));
  }
  if (!std::ranges::all_of(text_, is_visible)) {
    throw std::invalid_argument("must consist of visible ASCII characters, without spaces");
  }
}

AccessToken AccessToken::read(const std::string& path) {
  // Links are followed, because Kubernetes mounts secrets as links. What counts is the file that
  // they lead to. Without O_NONBLOCK, a pipe would block until somebody opens its other end.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (!file.is_open()) {
    const int error = errno;
    // The owner explains most errors better than the system does.
    struct stat status {};
    const bool is_link = lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    if (!is_link) check_private(path, Demand::ours);
    throw FileError(path, std::string{"cannot be read: "} + std::strerror(error));
  }
  check_private(path, file.get(), Demand::ours);
  check_mode(path, file.get());

  std::array<char, length_max + 3> text{};  // room for "\r\n", and for one too many
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t part = ::read(file.get(), text.data() + size, text.size() - size);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) throw FileError(path, std::string{"cannot be read: "} + std::strerror(errno));
    if (part == 0) break;
    size += static_cast<std::size_t>(part);
  }
  if (size > 0 && text[size - 1] == '\n') --size;
  if (size > 0 && text[size - 1] == '\r') --size;
  try {
    return AccessToken{std::string{text.data(), size}};
  } catch (const std::invalid_argument& error) {
    throw FileError(path,
                    std::string{"contains no token: it "} + error.what() +
                        "; make one with: openssl rand -hex 32");
  }
}

bool AccessToken::admits(std::string_view authorization) const {
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view scheme = authorization.substr(0, space);
  std::string_view credentials = authorization.substr(space);
  credentials.remove_prefix(std::min(credentials.find_first_not_of(' '), credentials.size()));
  if (same_name(scheme, "Bearer")) return equals(credentials);
  if (!same_name(scheme, "Basic")) return false;
  const auto decoded = decode_base64(credentials);
  if (!decoded) return false;
  const std::size_t colon = decoded->find(':');
  return colon != std::string::npos && equals(std::string_view{*decoded}.substr(colon + 1));
}

// The time depends on the length of the token, not on the candidate.
bool AccessToken::equals(std::string_view candidate) const {
  volatile unsigned difference = candidate.size() == text_.size() ? 0 : 1;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const char c = i < candidate.size() ? candidate[i] : '\0';
    difference = difference | static_cast<unsigned char>(c ^ text_[i]);
  }
  return difference == 0;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string decoded;
  decoded.reserve(text.size());
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = base64_value(c);
    if (value < 0) return {};
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
  }
  const std::uint32_t rest = (1U << static_cast<unsigned>(count)) - 1;
  if ((bits & rest) != 0) return {};  // another text would mean the same
  return decoded;
}

}  // namespace dutiful::http
