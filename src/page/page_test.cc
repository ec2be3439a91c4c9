#include "page/page.h"

#include <algorithm>
#include <sstream>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "page/assets.h"

namespace dutiful::page {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string body_of(const http::Response& response) {
  return std::get<std::string>(response.body);
}

std::string header_of(const http::Response& response, std::string_view name) {
  const auto found = std::ranges::find(response.headers, name, &http::Field::name);
  return found == response.headers.end() ? "" : found->value;
}

TEST(Html, contains_no_markup_from_outside) {
  EXPECT_EQ(escape_html(R"(<img src="x" onerror='alert(1)'> & so on)"),
            "&lt;img src=&quot;x&quot; onerror=&#39;alert(1)&#39;&gt; &amp; so on");
}

// RULES V
TEST(Html, shows_what_would_disguise_it) {
  EXPECT_EQ(escape_html("a\nb\u202ec\xff"), R"(a\nb\xe2\x80\xaec\xff)");
}

// As encodeURIComponent() and URLSearchParams do.
TEST(Address, is_encoded_as_the_script_encodes_it) {
  EXPECT_EQ(encode_segment("a/b c?d#e%f\"g"), "a%2Fb%20c%3Fd%23e%25f%22g");
  EXPECT_EQ(encode_segment("ü-._~!*'()+"), "%C3%BC-._~!*'()%2B");
  EXPECT_EQ(encode_value("a/b c&d=e+f"), "a%2Fb+c%26d%3De%2Bf");
  EXPECT_EQ(encode_value("ü-._~!*'()"), "%C3%BC-._%7E%21*%27%28%29");
}

TEST(Document, has_its_parts_and_no_marks) {
  const http::Response response = response_of({.status = 404,
                                               .title = "<a> @CONTENT@",
                                               .preloads = {"/api/v1/tasks?a=1&b=2"},
                                               .content = "<p>@TITLE@ stays</p>"});
  EXPECT_EQ(response.status, 404U);
  EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
  const std::string html = body_of(response);
  EXPECT_THAT(html, HasSubstr("<title>&lt;a&gt; @CONTENT@</title>"));
  EXPECT_THAT(html, HasSubstr("<p>@TITLE@ stays</p>"));  // what is put in is not looked at again
  EXPECT_THAT(html, HasSubstr(R"(as="fetch" crossorigin href="/api/v1/tasks?a=1&amp;b=2">)"));
  EXPECT_THAT(html, Not(HasSubstr("@ASSETS@")));
}

// So that a browser asks for all of them at once.
TEST(Document, names_every_file_of_the_page) {
  const std::string html = body_of(response_of({}));
  for (const Asset& asset : assets()) {
    if (asset.name == "shell.html") continue;
    const std::string address =
        "/page/" + std::string{version()} + "/" + std::string{asset.name} + "\"";
    EXPECT_THAT(html, HasSubstr(address));
  }
}

TEST(Document, allows_no_script_or_style_inside) {
  const http::Response response = response_of({});
  const std::string policy = header_of(response, "Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("script-src 'self'"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(body_of(response), Not(HasSubstr("<style")));
  EXPECT_THAT(body_of(response), Not(HasSubstr("style=")));
}

TEST(Assets, are_served_under_their_version_only) {
  for (const Asset& asset : assets()) {
    const http::Response response = asset_response(version(), asset.name);
    if (asset.name == "shell.html") {
      EXPECT_EQ(response.status, 404U);
      continue;
    }
    EXPECT_EQ(response.status, 200U) << asset.name;
    EXPECT_EQ(response.content_type, asset.type);
    EXPECT_EQ(body_of(response), asset.content);
    EXPECT_THAT(header_of(response, "Cache-Control"), HasSubstr("immutable"));
    EXPECT_EQ(asset_response("000000000000", asset.name).status, 404U);
  }
  EXPECT_EQ(asset_response(version(), "../page.cc").status, 404U);
}

// They are embedded without indentation, which must not be a part of a text.
TEST(Assets, have_no_text_on_several_lines) {
  for (const Asset& asset : assets()) {
    if (!asset.name.ends_with(".js")) continue;
    std::istringstream lines{std::string{asset.content}};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_EQ(std::ranges::count(line, '`') % 2, 0) << asset.name << ": " << line;
      EXPECT_FALSE(line.starts_with("//") || line.starts_with(' ')) << asset.name << ": " << line;
    }
  }
}

TEST(Assets, are_small) {
  std::size_t size = 0;
  for (const Asset& asset : assets()) size += asset.content.size();
  EXPECT_LT(size, 100'000U);
}

// Nothing is loaded from elsewhere, and no text can become markup.
TEST(Assets, mention_no_other_host_and_make_no_markup) {
  for (const Asset& asset : assets()) {
    for (const char* word :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "@import"}) {
      EXPECT_THAT(asset.content, Not(HasSubstr(word))) << asset.name;
    }
    std::string_view rest = asset.content;
    for (auto found = rest.find("://"); found != std::string_view::npos; found = rest.find("://")) {
      const std::string_view before = rest.substr(0, found + 3);
      rest.remove_prefix(found + 3);
      // The names of XML namespaces are no addresses.
      EXPECT_TRUE(before.ends_with("http://") && rest.starts_with("www.w3.org/")) << asset.name;
    }
  }
}

}  // namespace
}  // namespace dutiful::page
