#include "metrics/process_usage.h"

#include <chrono>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/few_descriptors.h"

namespace dutiful {
namespace {

TEST(ProcessUsage, is_that_of_this_process) {
  std::thread{[] {}}.join();  // a sanitizer starts a thread of its own with the first one
  const ProcessUsage before = read_process_usage();
  const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  ProcessUsage usage;
  std::thread{[&] { usage = read_process_usage(); }}.join();
  close(descriptor);

  EXPECT_EQ(*usage.open_descriptors, *before.open_descriptors + 1);
  EXPECT_EQ(*usage.threads, *before.threads + 1);
  EXPECT_GE(*usage.cpu, *before.cpu);
  EXPECT_GT(*usage.resident_memory, 1'000'000);
  EXPECT_GE(*usage.virtual_memory, *usage.resident_memory);
  EXPECT_EQ(*usage.started, *before.started);
  // The kernel rounds both the boot and the start, so a process may seem to start in the future.
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  EXPECT_LT(*usage.started, now + std::chrono::seconds{2});
  EXPECT_GT(*usage.started, now - std::chrono::days{365});
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(usage.descriptors_max.value_or(RLIM_INFINITY), limit.rlim_cur);
}

TEST(ProcessUsage, lacks_what_needs_a_descriptor_if_there_is_none) {
  const FewDescriptors none{0};
  const ProcessUsage usage = read_process_usage();
  EXPECT_FALSE(usage.open_descriptors);
  EXPECT_FALSE(usage.resident_memory);
  EXPECT_TRUE(usage.cpu);
}

}  // namespace
}  // namespace dutiful
