#include "page/page.h"

#include <algorithm>
#include <utility>

#include "page/assets.h"
#include "text/quote.h"

namespace dutiful::page {
namespace {

// Scripts come from this server only, and cannot make markup out of text (Trusted Types).
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

const Asset* find(std::string_view name) {
  const auto found = std::ranges::find(assets(), name, &Asset::name);
  return found == assets().end() ? nullptr : &*found;
}

std::string folder() {
  return "/page/" + std::string{version()};
}

// Every module but the first one, which names them only when it has been read.
std::string module_preloads() {
  std::string text;
  for (const Asset& asset : assets()) {
    if (!asset.name.ends_with(".js") || asset.name == "main.js") continue;
    text.append(R"(<link rel="modulepreload" href=")").append(folder()).append("/");
    text.append(asset.name).append("\">\n");
  }
  return text;
}

std::string preloads_of(const Document& document) {
  std::string text = module_preloads();
  for (const std::string& address : document.preloads) {
    text += R"(<link rel="preload" as="fetch" crossorigin href=")" + escape_html(address) + "\">\n";
  }
  return text;
}

// Percent-encodes everything but ASCII letters, digits and the characters in `plain`.
std::string encode(std::string_view text, std::string_view plain) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool is_alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (is_alphanumeric || plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return encoded;
}

// Replaces every @NAME@ of the template. What is put in is not looked at again.
class Template {
 public:
  explicit Template(std::string_view text) : rest_(text) {}

  // The text up to the next mark, which becomes the current one.
  std::string_view next() {
    const auto begin = rest_.find('@');
    const auto end = begin == std::string_view::npos ? begin : rest_.find('@', begin + 1);
    if (end == std::string_view::npos) {
      mark_ = {};
      return std::exchange(rest_, {});
    }
    const std::string_view before = rest_.substr(0, begin);
    mark_ = rest_.substr(begin + 1, end - begin - 1);
    rest_ = rest_.substr(end + 1);
    return before;
  }
  [[nodiscard]] std::string_view mark() const { return mark_; }  // empty: none is left

 private:
  std::string_view rest_;
  std::string_view mark_;
};

}  // namespace

std::string escape_html(std::string_view text) {
  std::string html;
  for (const char c : escape(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string encode_segment(std::string_view text) {
  return encode(text, "-_.!~*'()");
}

std::string encode_value(std::string_view text) {
  std::string encoded = encode(text, "*-._ ");
  std::ranges::replace(encoded, ' ', '+');
  return encoded;
}

http::Response response_of(const Document& document) {
  const Asset& shell = *find("shell.html");
  Template parts{shell.content};
  std::string html;
  do {
    html += parts.next();
    if (parts.mark() == "TITLE") html += escape_html(document.title);
    if (parts.mark() == "ASSETS") html += folder();
    if (parts.mark() == "PRELOADS") html += preloads_of(document);
    if (parts.mark() == "CONTENT") html += document.content;
  } while (!parts.mark().empty());
  return {.status = document.status,
          .content_type = std::string{shell.type},
          .headers = {{"Content-Security-Policy", policy}},
          .body = std::move(html)};
}

http::Response asset_response(std::string_view version, std::string_view name) {
  const Asset* const asset = version == page::version() ? find(name) : nullptr;
  if (asset == nullptr || name == "shell.html") {
    return http::error_response(404, "there is no such file of the page; load the page again");
  }
  return {.content_type = std::string{asset->type},
          .headers = {{"Cache-Control", "private, max-age=31536000, immutable"}},
          .body = std::string{asset->content}};
}

}  // namespace dutiful::page
