#include "commands/lingering_output.h"

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "commands/commands_in_test.h"

namespace dutiful {
namespace {

using testing::ElementsAre;

struct Ends {
  Descriptor reader;
  Descriptor writer;
};

class Lingering : public testing::Test {
 protected:
  Lingering() : signal_before(std::signal(SIGPIPE, SIG_IGN)) {}
  ~Lingering() override { std::signal(SIGPIPE, signal_before); }

  static Ends make_pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    return {Descriptor{ends[0]}, Descriptor{ends[1]}};
  }
  // Whether anybody could read it.
  static bool say(const Ends& pipe, const std::string& text) {
    return write(pipe.writer.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  void keep(std::uint64_t serial, Ends& pipe, const std::string& task) {
    output.keep(serial, std::move(pipe.reader), run_info_of(task));
  }

  void (*signal_before)(int);
  std::vector<std::string> heard;
  std::vector<std::string> ended;
  OutputReader reader{[this](const RunInfo& run, std::string_view chunk) {
    heard.push_back(run.task + ": " + std::string{chunk});
  }};
  LingeringOutput output{reader, 2, [this](const RunInfo& run) { ended.push_back(run.task); }};
};

TEST_F(Lingering, output_is_read_until_nobody_writes_any_more) {
  Ends pipe = make_pipe();
  keep(1, pipe, "a");

  EXPECT_TRUE(say(pipe, "late"));
  output.read_some(1);
  EXPECT_TRUE(say(pipe, "later"));
  output.read_some(1);
  EXPECT_THAT(ended, ElementsAre());
  pipe.writer.reset();
  output.read_some(1);

  EXPECT_THAT(heard, ElementsAre("a: late", "a: later"));
  EXPECT_THAT(ended, ElementsAre("a"));
  output.read_some(1);  // there is no such pipe any more
  EXPECT_THAT(ended, ElementsAre("a"));
}

TEST_F(Lingering, pipes_are_few_and_the_one_that_was_silent_for_longest_is_let_go) {
  Ends speaking = make_pipe();
  Ends silent = make_pipe();
  Ends new_one = make_pipe();
  keep(1, speaking, "speaking");
  keep(2, silent, "silent");
  EXPECT_TRUE(say(speaking, "still here"));
  output.read_some(1);

  keep(3, new_one, "new one");

  EXPECT_THAT(ended, ElementsAre("silent"));
  EXPECT_TRUE(say(speaking, "and here"));
  EXPECT_TRUE(say(new_one, "too"));
  EXPECT_FALSE(say(silent, "not me"));
  EXPECT_EQ(errno, EPIPE);
}

TEST_F(Lingering, output_that_nobody_asks_for_is_read_all_the_same) {
  OutputReader nobody{nullptr};
  LingeringOutput unheard{nobody, 2, nullptr};
  Ends pipe = make_pipe();
  unheard.keep(1, std::move(pipe.reader), run_info_of("a"));
  const std::string page(4096, 'x');
  while (say(pipe, page)) {
  }
  ASSERT_EQ(errno, EAGAIN);

  unheard.read_some(1);

  EXPECT_TRUE(say(pipe, page));
}

}  // namespace
}  // namespace dutiful
