#include "commands/spawn.h"

#include <exception>

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
  std::exception_ptr thrown;  // looked at later: UBSan needs a descriptor for that itself

  setrlimit(RLIMIT_NOFILE, &none);
  try {
    (void)spawner.spawn(command, {});
  } catch (...) {
    thrown = std::current_exception();
  }
  setrlimit(RLIMIT_NOFILE, &before);

  ASSERT_TRUE(thrown);
  try {
    std::rethrow_exception(thrown);
  } catch (const SpawnError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("no pipe for its output: Too many open files"),
                      HasSubstr("--max-concurrent")));
  }
}

}  // namespace
}  // namespace dutiful
