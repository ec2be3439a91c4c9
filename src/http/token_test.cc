#include "http/token.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "files/private_file.h"
#include "support/another_user.h"
#include "support/temporary_directory.h"

namespace dutiful::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* secret = "0123456789abcdef";

class Token : public ::testing::Test {
 protected:
  std::string write(const std::string& text, mode_t mode = 0600) {
    const std::string path = directory_.file("token");
    std::ofstream{path} << text;
    chmod(path.c_str(), mode);
    return path;
  }
  static std::string refusal_of(const std::string& path) {
    try {
      static_cast<void>(AccessToken::read(path));
      return "accepted";
    } catch (const FileError& error) {
      return error.what();
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(Token, is_a_bearer_token_or_the_password_of_any_user) {
  const AccessToken token{secret};
  EXPECT_TRUE(token.admits("Bearer 0123456789abcdef"));
  EXPECT_TRUE(token.admits("bearer  0123456789abcdef"));
  EXPECT_TRUE(token.admits("Basic dXNlcjowMTIzNDU2Nzg5YWJjZGVm"));  // user:…
  EXPECT_TRUE(token.admits("BASIC OjAxMjM0NTY3ODlhYmNkZWY="));      // :…
  for (const char* wrong : {"",
                            "Bearer",
                            "Bearer ",
                            "Bearer 0123456789abcdeg",
                            "Bearer 0123456789abcde",
                            "Bearer 0123456789abcdef0",
                            "Bearer x0123456789abcdef",
                            "0123456789abcdef",
                            "Digest 0123456789abcdef",
                            "Basic 0123456789abcdef",
                            "Basic ",
                            "Basic !!!!",
                            "Basic MDEyMzQ1Njc4OWFiY2RlZg==",              // without a user
                            "Basic MDEyMzQ1Njc4OWFiY2RlZjowMTIzNDU2Nw==",  // as the user
                            "Basic dXNlcjowMTIzNDU2Nzg5YWJjZGVmCg=="}) {   // with a newline
    SCOPED_TRACE(wrong);
    EXPECT_FALSE(token.admits(wrong));
  }
}

TEST_F(Token, with_a_colon_is_the_whole_rest_of_the_password) {
  // user:0123456789:abcdef
  EXPECT_TRUE(AccessToken{"0123456789:abcdef"}.admits("Basic dXNlcjowMTIzNDU2Nzg5OmFiY2RlZg=="));
}

TEST_F(Token, is_read_without_the_newline_at_its_end) {
  for (const char* text : {"0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef\r\n"}) {
    EXPECT_TRUE(AccessToken::read(write(text)).admits("Bearer 0123456789abcdef"));
  }
  EXPECT_TRUE(AccessToken::read(write(secret, 0400)).admits("Bearer 0123456789abcdef"));
}

TEST_F(Token, must_be_long_and_visible) {
  for (const std::string& text : {std::string{},
                                  std::string{"\n"},
                                  std::string(15, 'a'),
                                  std::string(1025, 'a'),
                                  std::string(100'000, 'a'),
                                  std::string{"0123456789 abcdef"},
                                  std::string(20, '\0'),
                                  std::string{"0123456789abcdef\n\n"},
                                  std::string{"0123456789abcdeé"}}) {
    SCOPED_TRACE(text.substr(0, 20));
    EXPECT_THAT(refusal_of(write(text)),
                AllOf(HasSubstr(directory_.file("token")),
                      HasSubstr("contains no token"),
                      HasSubstr("openssl rand"),
                      Not(HasSubstr("abcde"))));
  }
  EXPECT_EQ(refusal_of(write(std::string(16, 'a'))), "accepted");
  EXPECT_EQ(refusal_of(write(std::string(1024, 'a') + "\r\n")), "accepted");
}

TEST_F(Token, is_refused_if_others_can_use_its_file) {
  for (const mode_t mode : {0640U, 0604U, 0660U, 0620U, 0601U, 0777U}) {
    SCOPED_TRACE(mode);
    EXPECT_THAT(refusal_of(write(secret, mode)),
                AllOf(HasSubstr("can be used by other users"), HasSubstr("chmod 600")));
    EXPECT_THROW(static_cast<void>(AccessToken::read(write(secret, mode))), FileRefused);
  }
}

TEST_F(Token, is_refused_from_anything_but_a_file_of_ours) {
  EXPECT_THAT(refusal_of(directory_.file("none")), HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(refusal_of(directory_.file("")), HasSubstr("is a directory"));
  ASSERT_EQ(mkfifo(directory_.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(directory_.file("pipe")), HasSubstr("not a regular file"));
}

// As Kubernetes mounts a secret: token -> ..data/token, ..data -> ..2026_11_18.
TEST_F(Token, is_read_through_links) {
  ASSERT_EQ(mkdir(directory_.file("..2026_11_18").c_str(), 0700), 0);
  const std::string real = directory_.file("..2026_11_18/token");
  std::filesystem::rename(write(secret, 0400), real);
  ASSERT_EQ(symlink("..2026_11_18", directory_.file("..data").c_str()), 0);
  const std::string link = directory_.file("token");
  ASSERT_EQ(symlink("..data/token", link.c_str()), 0);
  EXPECT_TRUE(AccessToken::read(link).admits("Bearer 0123456789abcdef"));

  ASSERT_EQ(chmod(real.c_str(), 0440), 0);
  EXPECT_THAT(refusal_of(link), HasSubstr("can be used by other users"));
  std::filesystem::remove(real);
  EXPECT_THAT(refusal_of(link), HasSubstr("cannot be read: No such file"));
  ASSERT_EQ(mkfifo(real.c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(link), HasSubstr("not a regular file"));
  std::filesystem::remove(real);
  ASSERT_EQ(symlink("token", real.c_str()), 0);
  EXPECT_THAT(refusal_of(link), HasSubstr("cannot be read: Too many levels"));
}

TEST_F(Token, is_refused_from_a_file_of_another_user) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  const std::string path = write(secret);
  ASSERT_EQ(chown(path.c_str(), another_user, another_user), 0);
  EXPECT_THAT(refusal_of(path), HasSubstr("belongs to nobody"));
  // The owner of the link does not matter.
  const std::string link = directory_.file("link");
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  EXPECT_THAT(refusal_of(link), HasSubstr("belongs to nobody"));
}

TEST(Base64, is_decoded_exactly) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("+/+/"), "\xfb\xff\xbf");
  for (const char* wrong :
       {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "=", "====", "Zg==Zg==", "Zm 9", "Zm9-"}) {
    SCOPED_TRACE(wrong);
    EXPECT_EQ(decode_base64(wrong), std::nullopt);
  }
}

}  // namespace
}  // namespace dutiful::http
