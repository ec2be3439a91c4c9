// A user who is neither root nor the owner of our files. Only root can become that user.
#pragma once

#include <array>
#include <cstdlib>
#include <exception>
#include <string>

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dutiful {

constexpr uid_t another_user = 65534;  // nobody

inline bool become_another_user() {
  return setgroups(0, nullptr) == 0 && setgid(another_user) == 0 && setuid(another_user) == 0;
}

// The text that `call` returns in a process of that user, or the message of what it throws.
template <typename Call>
std::string said_by_another_user(Call call) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string text = "cannot become another user";
    if (become_another_user()) {
      try {
        text = call();
      } catch (const std::exception& error) {
        text = error.what();
      }
    }
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = read(ends[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

}  // namespace dutiful

// For tests that need two users.
#define DUTIFUL_NEEDS_ANOTHER_USER() \
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user"
