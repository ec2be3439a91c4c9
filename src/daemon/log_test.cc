#include "daemon/log.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <iterator>
#include <semaphore>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/allocations.h"

namespace dutiful {
namespace {

// A pipe whose reading end is the test's.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  }
  ~Pipe() {
    close_end(1);
    close_end(0);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }
  void close_reader() { close_end(0); }

  // All that is written until nobody can any more. Says when it has begun to read.
  [[nodiscard]] std::vector<std::string> lines(std::binary_semaphore* reading = nullptr) const {
    std::string text;
    char chunk[65536];
    for (ssize_t size = 1; (size = read(ends_[0], chunk, sizeof chunk)) > 0;) {
      if (text.empty() && reading != nullptr) reading->release();
      text.append(chunk, static_cast<std::size_t>(size));
    }
    std::vector<std::string> lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

 private:
  void close_end(int end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  int ends_[2]{-1, -1};
};

std::string dropped(std::size_t count) {
  return "dropped " + std::to_string(count);
}

// How many lines have come or were told to be missing.
std::size_t accounted_for(const std::vector<std::string>& lines) {
  std::size_t count = 0;
  for (const std::string& line : lines) {
    count += line.starts_with("dropped ") ? std::stoul(line.substr(8)) : 1;
  }
  return count;
}

TEST(Log, writes_every_line_once_and_in_order_whatever_its_length) {
  Pipe pipe;
  std::vector<std::string> written;
  {
    Log log{pipe.writer(), dropped};
    for (const int length : {0, 1, PIPE_BUF - 1, PIPE_BUF, PIPE_BUF + 1, 10'000, 7}) {
      written.emplace_back(static_cast<std::size_t>(length),
                           static_cast<char>('a' + written.size()));
      log.write(written.back());
    }
  }
  pipe.close_writer();
  EXPECT_EQ(pipe.lines(), written);
}

TEST(Log, says_how_many_lines_are_missing_where_nobody_reads) {
  Pipe pipe;
  constexpr std::size_t total = 200;
  std::vector<std::string> seen;
  std::binary_semaphore reading{0};
  std::thread reader;
  {
    Log log{pipe.writer(), dropped};
    for (std::size_t i = 0; i < total; ++i) log.write(std::string(100'000, 'x'));
    // Who ends waits for a reader, but not for long.
    reader = std::thread{[&] { seen = pipe.lines(&reading); }};
    reading.acquire();
  }
  pipe.close_writer();
  reader.join();
  EXPECT_EQ(accounted_for(seen), total);
  EXPECT_LT(seen.size(), total);
  EXPECT_GT(seen.size(), 50U);
}

TEST(Log, keeps_records_and_drops_output_where_nobody_reads) {
  Pipe pipe;
  constexpr std::size_t records = 100;
  constexpr std::size_t output_per_record = 400;
  std::size_t made = 0;
  std::vector<std::string> seen;
  std::binary_semaphore reading{0};
  std::thread reader;
  {
    Log log{pipe.writer(), dropped};
    for (std::size_t i = 0; i < records; ++i) {
      for (std::size_t line = 0; line < output_per_record; ++line) {
        log.write_output([&] {
          ++made;
          return "output " + std::string(1000, 'x');
        });
      }
      log.write("record " + std::to_string(i));
    }
    reader = std::thread{[&] { seen = pipe.lines(&reading); }};
    reading.acquire();
  }
  pipe.close_writer();
  reader.join();

  EXPECT_EQ(accounted_for(seen), records * (output_per_record + 1));
  std::vector<std::string> seen_records;
  std::ranges::copy_if(seen, std::back_inserter(seen_records), [](const std::string& line) {
    return line.starts_with("record");
  });
  ASSERT_EQ(seen_records.size(), records);
  for (std::size_t i = 0; i < records; ++i) {
    EXPECT_EQ(seen_records[i], "record " + std::to_string(i));
  }
  // Little enough that a record does not wait long for what is before it, and what is dropped costs
  // no more than to be counted.
  const auto kept = static_cast<std::size_t>(std::ranges::count_if(
      seen, [](const std::string& line) { return line.starts_with("output"); }));
  EXPECT_GT(kept, 500U);
  EXPECT_LT(kept, 1500U);
  EXPECT_EQ(made, kept);
}

TEST(Log, keeps_the_last_records_where_there_are_too_many) {
  Pipe pipe;
  constexpr std::size_t total = 200;
  std::vector<std::string> seen;
  std::binary_semaphore reading{0};
  std::thread reader;
  {
    Log log{pipe.writer(), dropped};
    for (std::size_t i = 1; i <= total; ++i) {
      log.write(std::to_string(i) + std::string(100'000, 'x'));
    }
    reader = std::thread{[&] { seen = pipe.lines(&reading); }};
    reading.acquire();
  }
  pipe.close_writer();
  reader.join();
  EXPECT_EQ(accounted_for(seen), total);
  EXPECT_TRUE(seen.back().starts_with("200x")) << seen.back().substr(0, 20);
}

TEST(Log, leaves_output_in_its_place_among_the_records) {
  Pipe pipe;
  {
    Log log{pipe.writer(), dropped};
    log.write("started");
    log.write_output([] { return "output"; });
    log.write("completed");
  }
  pipe.close_writer();
  EXPECT_EQ(pipe.lines(), (std::vector<std::string>{"started", "output", "completed"}));
}

TEST(Log, waits_so_long_for_a_reader_and_no_longer) {
  using namespace std::chrono_literals;
  for (const Log::Farewell farewell :
       {Log::Farewell{.silence_max = 0ms}, Log::Farewell{.silence_max = 24h, .time_max = 0ms}}) {
    Pipe pipe;
    {
      Log log{pipe.writer(), dropped, farewell};
      log.write(std::string(1'000'000, 'x'));  // which no pipe takes at once
    }
    pipe.close_writer();
    const auto seen = pipe.lines();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_GE(seen[0].size(), std::size_t{PIPE_BUF});
    EXPECT_LT(seen[0].size(), 1'000'000U);
  }
}

TEST(Log, survives_a_reader_that_goes_away) {
  static volatile std::sig_atomic_t signals = 0;
  struct sigaction before {};
  struct sigaction counting {};
  counting.sa_handler = [](int) { signals = signals + 1; };
  sigaction(SIGPIPE, &counting, &before);
  {
    Pipe pipe;
    pipe.close_reader();
    Log log{pipe.writer(), dropped};
    log.write("which raises SIGPIPE");
  }
  sigaction(SIGPIPE, &before, nullptr);
  EXPECT_EQ(signals, 0);
}

TEST(Log, loses_no_line_untold_where_the_memory_runs_out) {
  const SpareAllocations ours;
  constexpr std::size_t total = 12;  // which a pipe takes before anybody reads
  bool was_hit = true;
  std::uint64_t n = 0;
  while (was_hit) {
    SCOPED_TRACE(++n);
    Pipe pipe;
    {
      Log log{pipe.writer(), dropped};
      std::vector<std::string> lines;
      for (std::size_t i = 0; i < total; ++i) lines.emplace_back(i % 4 == 0 ? 5000 : 40, 'x');
      std::thread writer{[&] {
        fail_allocation(n);
        for (std::string& line : lines) log.write(std::move(line));
      }};
      writer.join();
      was_hit = allocation_failed();
      fail_allocation(0);
    }
    pipe.close_writer();
    const auto seen = pipe.lines();
    EXPECT_EQ(accounted_for(seen), total);
    EXPECT_EQ(std::ranges::count(seen, "dropped 1"), was_hit ? 1 : 0);
  }
  EXPECT_GT(n, total);  // a newline, at least, for each
}

}  // namespace
}  // namespace dutiful
