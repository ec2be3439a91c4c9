#include "http/listen_socket.h"

#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "files/private_file.h"
#include "http/http_in_test.h"
#include "support/another_user.h"
#include "support/temporary_directory.h"

namespace dutiful::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class UnixSocket : public ::testing::Test {
 protected:
  [[nodiscard]] ListenAddress address() const {
    return parse_listen_address("unix:" + directory_.file("socket"));
  }
  [[nodiscard]] std::string path() const { return directory_.file("socket"); }
  [[nodiscard]] std::string refusal() const {
    try {
      const ListenSocket socket{address()};
      return "accepted";
    } catch (const FileError& error) {
      return error.what();
    }
  }
  // As a process leaves it that is killed.
  void leave_socket_behind() const {
    const Descriptor dead{socket(AF_UNIX, SOCK_STREAM, 0)};
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path().copy(static_cast<char*>(name.sun_path), sizeof name.sun_path - 1);
    ASSERT_EQ(bind(dead.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    ASSERT_EQ(listen(dead.get(), 1), 0);
  }
  [[nodiscard]] mode_t mode() const {
    struct stat status {};
    EXPECT_EQ(lstat(path().c_str(), &status), 0);
    return status.st_mode;
  }

  TemporaryDirectory directory_;
};

TEST(ListenSocket, reports_the_port_that_was_chosen) {
  for (const char* text : {"127.0.0.1:0", "[::1]:0"}) {
    std::optional<ListenSocket> socket;
    try {
      socket.emplace(parse_listen_address(text));
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::address_not_available ||
          error.code() == std::errc::address_family_not_supported) {
        continue;  // a host without IPv6
      }
      throw;
    }
    EXPECT_NE(socket->address().port, 0);
    EXPECT_NO_THROW(Client{socket->address()});
  }
}

TEST(ListenSocket, says_that_a_port_is_taken) {
  const ListenSocket first{parse_listen_address("0")};
  try {
    const ListenSocket second{first.address()};
    ADD_FAILURE() << "both listen";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::address_in_use);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("cannot listen on " + first.address().to_string()),
                      HasSubstr("choose another port")));
  }
}

TEST(ListenSocket, says_that_an_address_is_not_ours) {
  try {
    const ListenSocket socket{parse_listen_address("192.0.2.1:8470")};
    GTEST_SKIP() << "this host may listen on any address";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this host does not have that address"));
  }
}

TEST_F(UnixSocket, has_mode_0660_and_is_removed_at_the_end) {
  for (const mode_t mask : {0000U, 0077U, 0777U}) {
    const mode_t before = umask(mask);
    {
      const ListenSocket socket{address()};
      EXPECT_EQ(mode(), S_IFSOCK | 0660U);
      EXPECT_NO_THROW(Client{address()});
    }
    umask(before);
    EXPECT_NE(access(path().c_str(), F_OK), 0);
  }
}

TEST_F(UnixSocket, replaces_one_that_a_dead_process_left_behind) {
  leave_socket_behind();
  const ListenSocket socket{address()};
  EXPECT_NO_THROW(Client{address()});
}

TEST_F(UnixSocket, refuses_one_on_which_a_process_listens) {
  const ListenSocket socket{address()};
  EXPECT_THAT(refusal(), AllOf(HasSubstr(path()), HasSubstr("another process listens on it")));
  EXPECT_NO_THROW(Client{address()});
}

TEST_F(UnixSocket, refuses_any_other_file) {
  std::ofstream{path()} << "precious";
  EXPECT_THAT(refusal(), HasSubstr("is not a socket"));
  std::string kept;
  std::ifstream{path()} >> kept;
  EXPECT_EQ(kept, "precious");

  ASSERT_EQ(unlink(path().c_str()), 0);
  ASSERT_EQ(symlink("/nowhere", path().c_str()), 0);
  EXPECT_THAT(refusal(), HasSubstr("is not a socket"));
}

TEST_F(UnixSocket, refuses_that_of_another_user) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  leave_socket_behind();
  ASSERT_EQ(lchown(path().c_str(), another_user, another_user), 0);
  EXPECT_THAT(refusal(), HasSubstr("is a socket of nobody"));
}

TEST_F(UnixSocket, names_the_directory_that_does_not_exist) {
  try {
    const ListenSocket socket{parse_listen_address("unix:" + directory_.file("none/socket"))};
    ADD_FAILURE() << "listens";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the directory \"" + directory_.file("none") + '"'));
  }
}

TEST_F(UnixSocket, leaves_a_socket_that_took_its_place) {
  std::optional<ListenSocket> first{address()};
  ASSERT_EQ(unlink(path().c_str()), 0);
  const ListenSocket second{address()};
  first.reset();
  EXPECT_NO_THROW(Client{address()});
}

TEST_F(UnixSocket, is_removed_by_the_one_to_which_it_was_moved) {
  {
    ListenSocket first{address()};
    const ListenSocket second{std::move(first)};
    EXPECT_NO_THROW(Client{address()});
  }
  EXPECT_NE(access(path().c_str(), F_OK), 0);
}

}  // namespace
}  // namespace dutiful::http
