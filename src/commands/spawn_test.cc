#include "commands/spawn.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Spawner, says_so_where_there_is_no_descriptor_left) {
  Spawner spawner;
  const Command command{.arguments = {"/bin/true"}};
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const Descriptor probe{dup(0)};
  const rlimit none{.rlim_cur = static_cast<rlim_t>(probe.get()), .rlim_max = before.rlim_max};
  std::optional<SpawnError> thrown;

  setrlimit(RLIMIT_NOFILE, &none);
  try {
    (void)spawner.spawn(command, {});
  } catch (const SpawnError& error) {
    thrown.emplace(error);
  }
  setrlimit(RLIMIT_NOFILE, &before);

  ASSERT_TRUE(thrown);
  EXPECT_THAT(thrown->what(),
              AllOf(HasSubstr("no pipe for its output: Too many open files"),
                    HasSubstr("--max-concurrent")));
}

}  // namespace
}  // namespace dutiful
