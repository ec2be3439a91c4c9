#include "runtime/trace_lock.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <dutiful/errors.h>

#include "posix/file_identity.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::HasSubstr;

class TraceLock : public testing::Test {
 protected:
  void open_and_close() const { (void)open_locked_trace(file); }

  [[nodiscard]] std::string refusal() const {
    try {
      open_and_close();
    } catch (const TraceError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryDirectory directory;
  std::string file = directory.file("trace.jsonl");
};

TEST_F(TraceLock, is_held_by_one_scheduler_at_a_time) {
  Descriptor descriptor = open_locked_trace(file);
  EXPECT_THAT(refusal(), HasSubstr("is in use by another scheduler"));
  descriptor.reset();
  EXPECT_EQ(refusal(), "");
}

TEST_F(TraceLock, says_why_the_file_cannot_be_opened) {
  file = directory.file("no/such/directory");
  EXPECT_THAT(refusal(), HasSubstr("No such file or directory"));
}

// A file that exists may not be a trace, so its mode is left to check_trace().
TEST_F(TraceLock, makes_a_new_file_private_and_leaves_the_mode_of_another) {
  using std::filesystem::perms;
  open_and_close();
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms{0600});
  std::filesystem::permissions(file, perms{0644});
  open_and_close();
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms{0644});
}

TEST_F(TraceLock, follows_no_link) {
  open_and_close();
  const std::string target = file;
  file = directory.file("link");
  std::filesystem::create_symlink(target, file);
  EXPECT_THAT(refusal(), HasSubstr("is a symbolic link, which is not followed"));
  std::filesystem::remove(target);
  EXPECT_THAT(refusal(), HasSubstr("is a symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(target));
}

// A scheduler that waits for the lock of a file that is then set aside takes the file that replaces
// it.
TEST_F(TraceLock, is_on_the_file_that_has_the_name_in_the_end) {
  Descriptor holder{open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  ASSERT_EQ(flock(holder.get(), LOCK_EX), 0);
  const auto open_files = [&] {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return std::count_if(begin(all), end(all), [&](const auto& entry) {
      std::error_code error;
      return std::filesystem::read_symlink(entry.path(), error) == std::filesystem::path{file};
    });
  };
  Descriptor descriptor;
  std::thread opener{[&] { descriptor = open_locked_trace(file); }};
  while (open_files() < 2) std::this_thread::yield();
  std::filesystem::rename(file, file + ".damaged-1");
  holder.reset();
  opener.join();
  EXPECT_TRUE(is_at(file, descriptor.get()));
}

}  // namespace
}  // namespace dutiful
