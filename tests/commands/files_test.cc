// dutiful run: who may use its files, and which files it uses.

#include <array>

#include <sys/prctl.h>

#include "commands/run_in_test.h"
#include "support/another_user.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class DutifulFiles : public DutifulRun {
 protected:
  // All files except the task file and the pipes of the test.
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{directory.file("")}) {
      const std::string path = entry.path().string();
      if (path != file && entry.symlink_status().type() == std::filesystem::file_type::regular) {
        found.push_back(path);
      }
    }
    return found;
  }
  std::vector<std::string> files_open_to_others() const {
    std::vector<std::string> found;
    for (const std::string& path : files()) {
      struct stat status {};
      EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
      if ((status.st_mode & 07777U) != 0600) found.push_back(path);
    }
    return found;
  }
  std::vector<std::string> files_of_others_than(uid_t owner) const {
    std::vector<std::string> found;
    for (const std::string& path : files()) {
      struct stat status {};
      if (lstat(path.c_str(), &status) == 0 && status.st_uid != owner) found.push_back(path);
    }
    return found;
  }
  static Ended run_as_another_user(const std::vector<std::string>& arguments) {
    return Process{arguments, {}, {}, become_another_user}.end();
  }
  void give_directory_to_another_user() const {
    ASSERT_EQ(chown(directory.file("").c_str(), another_user, another_user), 0);
    ASSERT_EQ(chown(file.c_str(), another_user, another_user), 0);
  }
  // Runs a daemon without tasks, which ends normally.
  void make_state() const {
    write("");
    Process daemon{arguments()};
    daemon.await("TaskFileLoaded");
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.end().status, 0);
  }

  // Expects that the daemon refuses to start because of this file, and says so.
  void expect_refused(const std::string& path, const std::string& reason) const {
    const Ended refused = run_to_end(arguments());
    EXPECT_EQ(refused.status, 2) << path;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(path), HasSubstr(reason)));
    EXPECT_THAT(refused.out,
                AllOf(HasSubstr("\"event\":\"AccessRefused\""),
                      HasSubstr("\"what\":\"" + path + '"'),
                      HasSubstr(reason)))
        << path;
  }

  const std::vector<std::string> beside{
      "-owner", "-wal", "-shm", "-journal", "-commands", "-commands-next"};
  const std::string precious = directory.file("precious");
};

TEST_F(DutifulFiles, are_private_whatever_the_umask) {
  const std::string trace = directory.file("trace.jsonl");
  const Fifo ready = fifo("ready");
  write(task("a", "true") + task("b", "echo here > " + ready.path() + "; exec sleep 1000"));
  Process daemon{arguments({"--trace", trace}), {}, {}, [] {
                   umask(0);
                   return true;
                 }};
  ready.read_text();
  daemon.await("TaskRunCompleted", "a");
  // The history is written in the background.
  const auto until = std::chrono::steady_clock::now() + patience;
  for (const char* ending :
       {"", "-owner", "-wal", "-shm", "-commands", "-history", "-history-wal", "-history-shm"}) {
    while (!std::filesystem::exists(state + ending)) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << ending;
      sched_yield();
    }
  }
  EXPECT_TRUE(std::filesystem::exists(trace));
  EXPECT_THAT(files_open_to_others(), IsEmpty());
  daemon.signal(SIGKILL);
  daemon.end();
  EXPECT_THAT(files_open_to_others(), IsEmpty());

  write("");
  Process last{arguments()};
  last.await("LeftoversEnded");
  last.signal(SIGTERM);
  EXPECT_EQ(last.end().status, 0);
  EXPECT_THAT(files_open_to_others(), IsEmpty());
}

TEST_F(DutifulFiles, of_an_older_dutiful_are_made_private) {
  const std::string trace = directory.file("trace.jsonl");
  const Fifo ready = fifo("ready");
  write(task("a", "true") + task("b", "echo here > " + ready.path() + "; exec sleep 1000"));
  {
    Process daemon{arguments({"--trace", trace})};
    ready.read_text();
    daemon.await("TaskRunCompleted", "a");
    daemon.signal(SIGKILL);
    daemon.end();
  }
  for (const std::string& path : files()) ASSERT_EQ(chmod(path.c_str(), 0666), 0);

  Process daemon{arguments({"--trace", trace, "--grace", "0s", "--kill-grace", "50ms"})};
  daemon.await("LeftoversEnded");
  ready.read_text();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_THAT(files_open_to_others(), IsEmpty());
}

TEST_F(DutifulFiles, of_another_program_are_left_as_they_are) {
  write("");
  const std::string other = directory.file("other.db");
  std::filesystem::copy_file(std::filesystem::path{DUTIFUL_TEST_DATA} / "state-v1.db", other);
  {
    // Its application_id.
    std::fstream bytes{other, std::ios::in | std::ios::out | std::ios::binary};
    bytes.seekp(68);
    bytes << "else";
  }
  ASSERT_EQ(chmod(other.c_str(), 0644), 0);
  const Ended refused = run_to_end(arguments({"--state", other}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("database of another program"));
  EXPECT_THAT(files_open_to_others(), testing::ElementsAre(other));
}

// RULES V: AccessRefused.
TEST_F(DutifulFiles, are_never_reached_through_a_link) {
  make_state();
  for (const std::string& ending : beside) {
    SCOPED_TRACE(ending);
    const std::string path = state + ending;
    std::filesystem::remove(path);
    std::ofstream{precious, std::ios::trunc} << "precious";
    std::filesystem::create_symlink(precious, path);
    expect_refused(path, "is a symbolic link");
    EXPECT_EQ(contents(precious), "precious");

    // Nor is the target of the link created.
    std::filesystem::remove(precious);
    expect_refused(path, "is a symbolic link");
    EXPECT_FALSE(std::filesystem::exists(precious));
    std::filesystem::remove(path);
  }
  make_state();  // the state is intact
}

TEST_F(DutifulFiles, of_another_user_are_refused_even_by_root) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  make_state();
  for (const std::string& ending : beside) {
    SCOPED_TRACE(ending);
    const std::string path = state + ending;
    std::ofstream{path, std::ios::trunc} << "";
    ASSERT_EQ(chown(path.c_str(), another_user, another_user), 0);
    expect_refused(path, "belongs to ");
    EXPECT_EQ(std::filesystem::file_size(path), 0U);
    std::filesystem::remove(path);
  }
  ASSERT_EQ(chown(state.c_str(), another_user, another_user), 0);
  expect_refused(state, "belongs to ");
  ASSERT_EQ(chown(state.c_str(), 0, 0), 0);
  make_state();
}

TEST_F(DutifulFiles, of_root_are_refused_by_other_users) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  make_state();
  ASSERT_EQ(chmod(directory.file("").c_str(), 0777), 0);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  for (const mode_t mode : {0600U, 0666U}) {
    ASSERT_EQ(chmod(state.c_str(), mode), 0);
    const Ended refused = run_as_another_user(arguments());
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("belongs to root"), HasSubstr("run it as root")));
    for (const std::string command : {"status", "history"}) {
      const Ended ended = run_as_another_user({command, "--state", state});
      EXPECT_EQ(ended.status, 2);
      EXPECT_EQ(ended.out, "");
      EXPECT_THAT(ended.err,
                  AllOf(HasSubstr("belongs to root"), HasSubstr("run this command as root")));
    }
    EXPECT_THAT(files_of_others_than(0), IsEmpty());
  }
}

// The journal of commands decides which processes the next daemon kills.
TEST_F(DutifulFiles, of_another_user_make_the_daemon_kill_no_process) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  make_state();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t innocent = fork();
  if (innocent == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    (void)!::write(ends[1], "x", 1);
    while (true) pause();
  }
  char ready = 0;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);  // it leads a session
  for (const int end : ends) close(end);
  std::string boot = contents("/proc/sys/kernel/random/boot_id");
  boot.pop_back();
  const std::string list = state + "-commands";
  const std::string lines = "0123456789abcdef " + boot + ',' +
                            std::filesystem::read_symlink("/proc/self/ns/pid").string() +
                            " 999999999 1\n@" + std::to_string(innocent) + " 1 9999999999999\n";
  std::ofstream{list} << lines;
  ASSERT_EQ(chown(list.c_str(), another_user, another_user), 0);
  expect_refused(list, "belongs to ");
  EXPECT_EQ(waitpid(innocent, nullptr, WNOHANG), 0);

  // Nor if an older daemon has let other users write to the journal.
  ASSERT_EQ(chown(list.c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(list.c_str(), 0666), 0);
  make_state();
  EXPECT_EQ(waitpid(innocent, nullptr, WNOHANG), 0);

  // In a private file, the same lines count: a daemon writes such lines.
  std::ofstream{list} << lines;
  ASSERT_EQ(chmod(list.c_str(), 0600), 0);
  make_state();
  EXPECT_EQ(waitpid(innocent, nullptr, WNOHANG), innocent);
}

TEST_F(DutifulFiles, do_not_include_a_history_behind_a_link_and_runs_continue) {
  std::filesystem::create_symlink(precious, state + "-history");
  write(impatient_task("a", "exit 1"));
  Process daemon{arguments()};
  const auto refused = daemon.await("AccessRefused");
  EXPECT_EQ(refused["what"], state + "-history");
  EXPECT_EQ(refused["reason"], "the file is a symbolic link");
  EXPECT_THAT(daemon.await("HistoryFailed")["error"].get<std::string>(),
              HasSubstr("is a symbolic link"));
  for (int run = 0; run < 3; ++run) daemon.await("TaskRunFailed", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_FALSE(std::filesystem::exists(precious));

  std::filesystem::copy_file(state, precious);
  const Ended history = run_to_end({"history", "--state", state});
  EXPECT_EQ(history.status, 2);
  EXPECT_THAT(history.err, HasSubstr("is a symbolic link"));
}

TEST_F(DutifulFiles, do_not_include_a_trace_behind_a_link) {
  write("");
  const std::string trace = directory.file("trace.jsonl");
  std::filesystem::create_symlink(precious, trace);
  const Ended refused = run_to_end(arguments({"--trace", trace}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(trace), HasSubstr("is a symbolic link")));
  EXPECT_THAT(refused.out, HasSubstr("\"event\":\"AccessRefused\""));
  EXPECT_FALSE(std::filesystem::exists(precious));
}

TEST_F(DutifulFiles, belong_to_the_user_of_the_daemon_and_root_may_read_them) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  const Fifo ready = fifo("ready");
  ASSERT_EQ(chmod(ready.path().c_str(), 0666), 0);
  write(task("a", "echo here > " + ready.path() + "; exec sleep 1000"));
  give_directory_to_another_user();
  const auto look = [&](const char* result) {
    const Ended status = run_to_end({"status", "--state", state});
    EXPECT_EQ(status.status, 0) << status.err;
    EXPECT_THAT(status.out, HasSubstr(result));
    const Ended history = run_to_end({"history", "--state", state});
    EXPECT_EQ(history.status, 0) << history.err;
    // Root leaves no file that would lock out the owner.
    EXPECT_THAT(files_of_others_than(another_user), IsEmpty());
    EXPECT_THAT(files_open_to_others(), IsEmpty());
  };
  {
    Process daemon{arguments(), {}, {}, become_another_user};
    ready.read_text();
    look("running");
    daemon.signal(SIGKILL);
    daemon.end();
  }
  look("interrupted");
  std::filesystem::remove(state + "-shm");  // the reader creates it again
  look("interrupted");
  {
    Process daemon{
        arguments({"--grace", "0s", "--kill-grace", "50ms"}), {}, {}, become_another_user};
    daemon.await("LeftoversEnded");
    ready.read_text();
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.end().status, 0);
  }
  look("failed");
  Process daemon{arguments({"--grace", "0s", "--kill-grace", "50ms"}), {}, {}, become_another_user};
  daemon.await("TaskFileLoaded");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

}  // namespace
}  // namespace dutiful
