#include "commands/user_account.h"

#include <array>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "commands/spawn.h"

namespace dutiful {
namespace {

TEST(UserAccounts, are_looked_up_once) {
  UserAccounts accounts;
  const auto root = accounts.find("root");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root->user, 0U);
  EXPECT_EQ(accounts.find("root"), root);
}

TEST(UserAccounts, that_do_not_exist_are_left_to_the_start) {
  UserAccounts accounts;
  EXPECT_EQ(accounts.find("nobody-of-this-name"), nullptr);
  EXPECT_EQ(accounts.find(""), nullptr);
}

TEST(UserAccounts, that_are_given_are_not_looked_up_again) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const UserAccount account{.user = 65534, .group = 65534, .groups = {65534}, .home = "/nowhere"};
  Spawner spawner;
  const Command command{.arguments = {"/bin/sh", "-c", "echo $(id -u) $HOME $USER >&2"},
                        .user = "nobody-of-this-name"};
  const Child child = spawner.spawn(command, {{"PATH", "/usr/bin:/bin"}}, {}, &account);
  EXPECT_EQ(waitpid(child.process, nullptr, 0), child.process);
  std::array<char, 100> text{};
  ASSERT_GT(read(child.output.get(), text.data(), text.size() - 1), 0);
  EXPECT_STREQ(text.data(), "65534 /nowhere nobody-of-this-name\n");
}

}  // namespace
}  // namespace dutiful
