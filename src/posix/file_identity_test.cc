#include "posix/file_identity.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "posix/descriptor.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

namespace fs = std::filesystem;

class Identity : public testing::Test {
 protected:
  Identity() { std::ofstream{path} << "text"; }

  TemporaryDirectory directory;
  std::string path = directory.file("file");
  std::string other = directory.file("other");
};

TEST_F(Identity, is_the_same_by_every_name_and_descriptor_of_a_file) {
  fs::create_hard_link(path, other);
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  ASSERT_TRUE(identity_of(path));
  EXPECT_EQ(identity_of(path), identity_of(other));
  EXPECT_EQ(identity_of(path), identity_of(file.get()));
  EXPECT_TRUE(is_at(path, file.get()));
}

TEST_F(Identity, of_a_link_is_not_that_of_its_target) {
  fs::create_symlink(path, other);
  const Descriptor file{open(other.c_str(), O_RDONLY | O_CLOEXEC)};
  EXPECT_NE(identity_of(path), identity_of(other));
  EXPECT_FALSE(is_at(other, file.get()));
}

TEST_F(Identity, changes_when_the_file_is_replaced) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  std::ofstream{other} << "text";
  fs::rename(other, path);
  EXPECT_TRUE(identity_of(path));
  EXPECT_FALSE(is_at(path, file.get()));
}

TEST_F(Identity, of_nothing_is_none_and_is_nowhere) {
  fs::remove(path);
  EXPECT_FALSE(identity_of(path));
  EXPECT_FALSE(identity_of(-1));
  EXPECT_FALSE(is_at(path, -1));  // that neither exists makes them no file
}

}  // namespace
}  // namespace dutiful
