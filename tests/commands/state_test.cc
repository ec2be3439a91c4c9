// dutiful run: the state that it holds, and the states that it refuses.

#include <sys/resource.h>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(DutifulRun, reports_invalid_arguments_before_it_does_anything) {
  EXPECT_EQ(run_to_end(arguments()).status, 2);  // there is no file
  write("[[task]]\nname = \"a\"\ncron = \"bad\"\nrun = \"true\"\n");
  const Ended invalid = run_to_end(arguments());
  EXPECT_EQ(invalid.status, 1);
  EXPECT_THAT(invalid.err, AllOf(HasSubstr(file + ":3:"), HasSubstr("retry")));
  EXPECT_FALSE(std::filesystem::exists(state));

  write(task("a", "true"));
  EXPECT_EQ(run_to_end(arguments({"--grace", "soon"})).status, 2);
  EXPECT_EQ(run_to_end(arguments({"--max-concurrent", "-1"})).status, 2);
  EXPECT_THAT(run_to_end(arguments({"--history", "9223372036854775808"})).err,
              HasSubstr("--history: \"9223372036854775808\" is too large"));
  EXPECT_THAT(run_to_end(arguments({"--history", "99999999999999999999"})).err,
              HasSubstr("is too large"));
  const Ended unwritable = run_to_end(arguments({"--state", "/proc/no/such"}));
  EXPECT_EQ(unwritable.status, 2);
  EXPECT_THAT(unwritable.err, HasSubstr("/proc/no/such"));
}

TEST_F(DutifulRun, opens_dev_null_for_missing_standard_descriptors) {
  const Fifo started = fifo("started");
  write(task("a", "echo yes > " + started.path()));
  Process daemon{arguments(), {}, {STDIN_FILENO, STDOUT_FILENO}};
  EXPECT_EQ(started.read_text(), "yes\n");
  const std::string descriptors = "/proc/" + std::to_string(daemon.id()) + "/fd/";
  EXPECT_EQ(std::filesystem::read_symlink(descriptors + '0'), "/dev/null");
  EXPECT_EQ(std::filesystem::read_symlink(descriptors + '1'), "/dev/null");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  const Ended no_result = Process{{"next", "* * * * *"}, {}, {STDOUT_FILENO}}.end();
  EXPECT_EQ(no_result.status, 1);
  EXPECT_THAT(no_result.err, HasSubstr("cannot write the result"));
}

#ifdef DUTIFUL_PLAIN_BUILD  // a sanitizer needs more descriptors
TEST_F(DutifulRun, says_which_limit_prevents_its_start) {
  write("");
  const Ended ended = Process{
      arguments(), {}, {}, [] {
        const rlimit few{.rlim_cur = 8, .rlim_max = 8};
        return setrlimit(RLIMIT_NOFILE, &few) == 0;
      }}.end();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("cannot start the daemon: Too many open files"),
                    HasSubstr("raise the limit on open files (ulimit -n, LimitNOFILE=)")));
}
#endif

TEST_F(DutifulRun, refuses_a_state_that_another_process_holds) {
  write(task("a", "true"));
  Process first{arguments()};
  first.await("TaskRunCompleted", "a");

  const Ended second = run_to_end(arguments());
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("is in use by process " + std::to_string(first.id())));
  first.signal(SIGTERM);
  EXPECT_EQ(first.end().status, 0);
}

TEST_F(DutifulRun, starts_nothing_while_its_state_is_missing) {
  const Fifo go = fifo("go");
  write(impatient_task("a", "read x < " + go.path() + "; exit 1"));
  Process daemon{arguments()};
  daemon.await("TaskRunStarted", "a");
  std::filesystem::remove(state);
  go.release();
  EXPECT_THAT(daemon.await("StoreFailed")["error"].get<std::string>(),
              AllOf(HasSubstr(state + "\" was removed"), HasSubstr("put it back, or restart")));

  // Nor does a second daemon, which would kill the commands of the first.
  for (const char* suffix : {"-owner", "-wal", "-shm"}) std::filesystem::remove(state + suffix);
  const Ended second = run_to_end(arguments());
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err,
              HasSubstr("process " + std::to_string(daemon.id()) + " still uses this state"));
}

TEST_F(DutifulRun, continues_when_its_state_is_back) {
  const Fifo go = fifo("go");
  write(impatient_task("a", "read x < " + go.path() + "; exit 1"));
  Process daemon{arguments({"--kill-grace", "50ms"})};
  daemon.await("TaskRunStarted", "a");
  std::filesystem::rename(state, directory.file("away"));
  go.release();
  daemon.await("StoreFailed");
  std::filesystem::rename(directory.file("away"), state);
  daemon.await("TaskRunStarted", "a");

  daemon.signal(SIGTERM);
  daemon.await("SchedulerStopRequested");
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, prints_only_a_clear_error_if_there_is_no_state) {
  const auto error = [](const std::string& command, const std::string& where) {
    const Ended ended = run_to_end({command, "--state", where});
    EXPECT_EQ(ended.status, 2) << command << ' ' << where;
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  for (const std::string command : {"status", "history"}) {
    EXPECT_THAT(error(command, state), AllOf(HasSubstr(state), HasSubstr("does not exist; give")));
    EXPECT_FALSE(std::filesystem::exists(state));
    EXPECT_THAT(error(command, directory.file("")),
                HasSubstr("is a directory; give the state file"));
    EXPECT_THAT(error(command, "/dev/null"), HasSubstr("is not a regular file"));
    EXPECT_THAT(error(command, ""), HasSubstr("--state: the file name is empty"));
    const std::string loop = directory.file("loop.db");
    if (!std::filesystem::is_symlink(loop)) std::filesystem::create_symlink(loop, loop);
    EXPECT_THAT(
        error(command, loop),
        AllOf(HasSubstr("cannot be read: Too many levels of symbolic links; give the state"),
              Not(HasSubstr("permissions"))));
    const std::string other = directory.file("other.db");
    std::ofstream{other}
        << "something else, which is long enough to be read as the header of a file";
    EXPECT_THAT(error(command, other), HasSubstr("not an SQLite database"));
  }
}

TEST_F(DutifulRun, leaves_no_files_beside_a_file_that_cannot_be_a_state) {
  write("");
  const std::string place = directory.file("place");
  std::filesystem::create_directories(place + "/directory");
  std::ofstream{place + "/text"} << "something else\n";
  std::ofstream{place + "/garbage"}
      << std::string{"SQLite format 3\0", 16} + std::string(5000, 'x');
  std::filesystem::create_symlink("/dev/null", place + "/device");
  const auto error = [&](const std::string& name) {
    const Ended ended = run_to_end(arguments({"--state", place + '/' + name}));
    EXPECT_EQ(ended.status, 2) << name;
    return ended.err;
  };
  EXPECT_THAT(error("directory"), HasSubstr("is a directory; give the state file"));
  EXPECT_THAT(error("device"), HasSubstr("is not a regular file"));
  EXPECT_THAT(error("text"), HasSubstr("not an SQLite database"));
  EXPECT_THAT(error("garbage"), HasSubstr(place + "/garbage"));
  EXPECT_THAT(error("no/such"), HasSubstr(place + "/no/such"));
  EXPECT_FALSE(std::filesystem::exists("/dev/null-owner"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{place}, {}), 4);
}

// Nor beside a state that it must not use.
TEST_F(DutifulRun, leaves_no_files_beside_a_state_that_it_refuses) {
  write("");
  {
    Process daemon{arguments()};
    daemon.await("TaskFileLoaded");
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.end().status, 0);
  }
  const std::string place = directory.file("place");
  std::filesystem::create_directory(place);
  std::filesystem::create_hard_link(state, place + "/hard.db");
  const Ended refused = run_to_end(arguments({"--state", place + "/hard.db"}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("has several names"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{place}, {}), 1);
}

TEST_F(DutifulRun, refuses_a_trace_that_is_another_of_its_files) {
  write("");
  const std::string link = directory.file("link");
  const auto refuse = [&](const std::string& trace) {
    const Ended ended = run_to_end(arguments({"--trace", trace}));
    EXPECT_EQ(ended.status, 2) << trace;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(trace), HasSubstr("use a separate file")));
    return ended.err;
  };
  for (const char* suffix : {"", "-owner", "-wal", "-shm", "-history", "-commands", "-failures"}) {
    EXPECT_THAT(refuse(state + suffix), HasSubstr("the state \"" + state + '"'));
    std::filesystem::create_symlink(state + suffix, link);
    EXPECT_THAT(refuse(link), HasSubstr("the state \"" + state + '"'));
    std::filesystem::remove(link);
  }
  EXPECT_THAT(refuse(file), HasSubstr("is the task file"));
  std::filesystem::create_symlink(file, link);
  EXPECT_THAT(refuse(link), HasSubstr("is the task file"));
  std::filesystem::create_hard_link(file, directory.file("hard"));
  EXPECT_THAT(refuse(directory.file("hard")), HasSubstr("is the task file"));
  EXPECT_FALSE(std::filesystem::exists(state));
}

TEST_F(DutifulRun, refuses_a_pipe_in_place_of_its_journal) {
  write("");
  const Fifo pipe = fifo("tasks.db-commands");
  const Ended refused = run_to_end(arguments());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr(pipe.path() + "\" is not a regular file"), HasSubstr("remove it")));

  std::filesystem::rename(pipe.path(), pipe.path() + "-next");
  const Ended unwritable = run_to_end(arguments());
  EXPECT_EQ(unwritable.status, 2);
  EXPECT_THAT(unwritable.err, HasSubstr(pipe.path() + "-next\" is not a regular file"));
}

}  // namespace
}  // namespace dutiful
