#include "files/private_file.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/another_user.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PrivateFileTest : public testing::Test {
 protected:
  // Each function that takes a file.
  struct Way {
    const char* name;
    std::function<void(const std::string&)> take;
    bool replaces = false;
    bool makes = true;
  };
  static std::vector<Way> ways() {
    const auto expect_open = [](const PrivateFile& file) {
      EXPECT_TRUE(file.descriptor.is_open()) << std::generic_category().message(file.error);
    };
    return {{.name = "open_or_make_private",
             .take = [=](const auto& name) { expect_open(open_or_make_private(name, O_RDWR)); }},
            {.name = "open_private",
             .take = [=](const auto& name) { expect_open(open_private(name, O_RDWR)); },
             .makes = false},
            {.name = "make_private_anew",
             .take = [=](const auto& name) { expect_open(make_private_anew(name, O_RDWR)); },
             .replaces = true},
            {.name = "check_private",
             .take = [](const auto& name) { check_private(name, Demand::ours_alone); },
             .makes = false}};
  }

  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  template <typename Expected = FileRefused>
  static std::string error_of(const Way& way, const std::string& path) {
    try {
      way.take(path);
      return "no error";
    } catch (const Expected& error) {
      return error.what();
    }
  }

  TemporaryDirectory directory;
  std::string path = directory.file("file");
};

TEST_F(PrivateFileTest, is_made_for_its_owner_alone_whatever_the_umask) {
  const mode_t before = umask(0);
  for (const mode_t mask : {0000U, 0022U, 0077U, 0777U}) {
    umask(mask);
    for (const Way& way : ways()) {
      if (!way.makes) continue;
      std::filesystem::remove(path);
      way.take(path);
      EXPECT_EQ(mode_of(path), 0600U) << way.name << ", umask " << mask;
    }
  }
  umask(before);
}

TEST_F(PrivateFileTest, gets_mode_0600_if_others_could_open_it) {
  for (const Way& way : ways()) {
    std::ofstream{path, std::ios::trunc} << "kept";
    for (const mode_t mode : {0644U, 0666U, 0777U, 04755U}) {
      ASSERT_EQ(chmod(path.c_str(), mode), 0);
      way.take(path);
      EXPECT_EQ(mode_of(path), 0600U) << way.name;
      EXPECT_EQ(text_of(path), way.replaces ? "" : "kept") << way.name;
    }
  }
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  (void)open_or_make_private(path, O_RDWR, Demand::ours);
  check_private(path, Demand::ours);
  EXPECT_EQ(mode_of(path), 0644U);
}

TEST_F(PrivateFileTest, says_whether_it_was_made) {
  const PrivateFile made = open_or_make_private(path, O_RDWR);
  EXPECT_TRUE(made.made);
  const PrivateFile found = open_or_make_private(path, O_RDWR);
  EXPECT_FALSE(found.made);
  EXPECT_TRUE(found.descriptor.is_open());
  EXPECT_EQ(open_private(path + "-none", O_RDWR).error, ENOENT);
  EXPECT_EQ(open_or_make_private(directory.file("no/such"), O_RDWR).error, ENOENT);
  check_private(path + "-none", Demand::ours_alone);
}

TEST_F(PrivateFileTest, is_never_reached_through_a_link) {
  const std::string precious = directory.file("precious");
  for (const Way& way : ways()) {
    std::ofstream{precious, std::ios::trunc} << "precious";
    chmod(precious.c_str(), 0640);
    std::filesystem::create_symlink(precious, path);
    EXPECT_THAT(error_of(way, path),
                AllOf(HasSubstr(path + "\" is a symbolic link"), HasSubstr("remove it")))
        << way.name;
    EXPECT_EQ(text_of(precious), "precious");
    EXPECT_EQ(mode_of(precious), 0640U);

    // A link to nothing does not make the file.
    std::filesystem::remove(precious);
    EXPECT_THAT(error_of(way, path), HasSubstr("is a symbolic link")) << way.name;
    EXPECT_FALSE(std::filesystem::exists(precious));
    EXPECT_TRUE(std::filesystem::is_symlink(path));
    std::filesystem::remove(path);

    std::ofstream{precious} << "precious";
    chmod(precious.c_str(), 0640);
    std::filesystem::create_hard_link(precious, path);
    if (way.replaces) {
      way.take(path);  // the file of the other name is unchanged
    } else {
      EXPECT_THAT(error_of(way, path), HasSubstr("has several names")) << way.name;
    }
    EXPECT_EQ(text_of(precious), "precious");
    EXPECT_EQ(mode_of(precious), 0640U);
    std::filesystem::remove(path);
  }
}

TEST_F(PrivateFileTest, is_a_regular_file) {
  for (const Way& way : ways()) {
    std::filesystem::create_directory(path);
    EXPECT_THAT(error_of<FileError>(way, path), HasSubstr("is a directory; move it")) << way.name;
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(error_of<FileError>(way, path), HasSubstr("is not a regular file")) << way.name;
    std::filesystem::remove(path);
  }
}

TEST_F(PrivateFileTest, belongs_to_the_user_who_runs_dutiful_even_if_that_is_root) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  for (const Way& way : ways()) {
    std::ofstream{path} << "planted";
    ASSERT_EQ(chown(path.c_str(), another_user, another_user), 0);
    for (const mode_t mode : {0600U, 0666U}) {
      chmod(path.c_str(), mode);
      EXPECT_THAT(error_of(way, path),
                  AllOf(HasSubstr("belongs to " + user_name(another_user)),
                        HasSubstr("runs as root; run it as " + user_name(another_user))))
          << way.name;
      EXPECT_EQ(mode_of(path), mode);
      EXPECT_EQ(text_of(path), "planted");
    }
    std::filesystem::remove(path);
  }
}

TEST_F(PrivateFileTest, of_root_is_refused_to_another_user) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  chmod(directory.file("").c_str(), 0777);
  for (const Way& way : ways()) {
    for (const mode_t mode : {0600U, 0444U, 0666U}) {
      std::ofstream{path} << "of root";
      chmod(path.c_str(), mode);
      EXPECT_THAT(said_by_another_user([&] { return error_of(way, path); }),
                  AllOf(HasSubstr("belongs to root"), HasSubstr("run it as root")))
          << way.name << ", " << mode;
      EXPECT_EQ(mode_of(path), mode);
    }
  }
}

TEST_F(PrivateFileTest, names_the_owner_of_a_refused_file) {
  std::filesystem::create_symlink("nowhere", path);
  try {
    (void)open_or_make_private(path, O_RDWR);
    FAIL() << "it was followed";
  } catch (const FileRefused& refused) {
    EXPECT_EQ(refused.path(), path);
    EXPECT_EQ(refused.reason(), "the file is a symbolic link");
    EXPECT_EQ(refused.who(), user_name(geteuid()));
  }
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(user_name(3999999999U), "user 3999999999");
}

}  // namespace
}  // namespace dutiful
