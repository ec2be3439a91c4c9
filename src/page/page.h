// The page: HTML documents, and the files that they load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/response.h"

namespace dutiful::page {

// Text from outside as HTML, for contents and for attributes in quotes. Control characters and
// bytes that are not UTF-8 are shown as by escape(), so that no text can disguise another.
[[nodiscard]] std::string escape_html(std::string_view text);

// The text as one segment of a path, as encodeURIComponent() of JavaScript encodes it, and as a
// value of a query, as URLSearchParams does: an answer is preloaded only if its address is the
// same.
[[nodiscard]] std::string encode_segment(std::string_view text);
[[nodiscard]] std::string encode_value(std::string_view text);

struct Document {
  unsigned status = 200;
  std::string title{};                  // as it is
  std::vector<std::string> preloads{};  // addresses of data that the page asks for first, encoded
  std::string content{};                // HTML, until the script replaces it and without script
};

// shell.html with these parts. Everything that its first view needs is named in it, so a browser
// asks for all of that at once. Its Content-Security-Policy allows only files of this server, and
// no text can become markup.
[[nodiscard]] http::Response response_of(const Document& document);

// A file of the page, at /page/<version>/<name>; 404 if there is none.
[[nodiscard]] http::Response asset_response(std::string_view version, std::string_view name);

}  // namespace dutiful::page
