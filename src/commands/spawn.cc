#include "commands/spawn.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "commands/search_path.h"
#include "commands/user_account.h"
#include "text/quote.h"

// The C library's own clone(). ThreadSanitizer replaces clone() by one that assumes that the child
// has a memory of its own, and loses track of the daemon's.
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace dutiful {
namespace {

constexpr std::size_t stack_size = 64UL * 1024;

// The size of the kernel's set of signals in bytes.
constexpr std::size_t kernel_signals_size = 8;
constexpr int signal_max = 64;

// The steps of the child before it becomes another program, so that an error names the one that
// failed.
enum class Step { none, session, journal, descriptors, groups, group, user, directory, program };

// Everything that the child needs, prepared by the daemon: the two share their memory, so the child
// must not allocate, lock, or call any function of the C library that keeps state. Bare system
// calls also avoid the C library's setuid(), which changes the user of all threads of the process;
// those would be the daemon's.
struct ChildSetup {
  std::vector<char*> arguments{};
  std::vector<char*> environment{};
  std::vector<const char*> programs{};  // the paths to try, in that order
  const char* directory = nullptr;
  std::optional<UserAccount> account{};
  int input = -1;
  int output = -1;
  rlimit limit{};
  JournalLine line{};

  Step failed = Step::none;
  int error = 0;
};

__attribute__((no_sanitize("address", "thread", "undefined"))) int fail(ChildSetup& setup,
                                                                        Step step) {
  setup.failed = step;
  setup.error = errno;
  syscall(SYS_exit_group, 127);
  return 127;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool enter_journal(
    JournalLine& line) {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
  const std::int64_t nanoseconds = now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  line.put(JournalLine::process_at, JournalLine::process_width, syscall(SYS_getpid));
  line.put(JournalLine::not_after_at, JournalLine::ticks_width, nanoseconds / line.tick_length);
  const long written = syscall(SYS_pwrite64, line.file, line.text, JournalLine::size, line.place);
  if (written >= 0 && written != static_cast<long>(JournalLine::size)) errno = ENOSPC;
  return written == static_cast<long>(JournalLine::size);
}

// Runs in the child, on its own stack.
__attribute__((no_sanitize("address", "thread", "undefined"))) int become(void* argument) {
  ChildSetup& setup = *static_cast<ChildSetup*>(argument);
  if (syscall(SYS_setsid) < 0) return fail(setup, Step::session);
  if (setup.line.file >= 0 && !enter_journal(setup.line)) return fail(setup, Step::journal);

  // Ignored signals stay ignored across an exec, so each gets its default action.
  const std::array<unsigned long, 4> default_action{};
  for (int signal = 1; signal <= signal_max; ++signal) {
    syscall(SYS_rt_sigaction, signal, default_action.data(), nullptr, kernel_signals_size);
  }
  const unsigned long none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kernel_signals_size);

  if (syscall(SYS_dup3, setup.input, STDIN_FILENO, 0) < 0 ||
      syscall(SYS_dup3, setup.output, STDOUT_FILENO, 0) < 0 ||
      syscall(SYS_dup3, setup.output, STDERR_FILENO, 0) < 0) {
    return fail(setup, Step::descriptors);
  }
  // On kernels without this call, the daemon's descriptors close at the exec.
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
  syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &setup.limit, nullptr);

  if (setup.account) {
    const UserAccount& account = *setup.account;
    if (syscall(SYS_setgroups, account.groups.size(), account.groups.data()) < 0) {
      return fail(setup, Step::groups);
    }
    if (syscall(SYS_setgid, account.group) < 0) return fail(setup, Step::group);
    if (syscall(SYS_setuid, account.user) < 0) return fail(setup, Step::user);
  }
  if (setup.directory != nullptr && syscall(SYS_chdir, setup.directory) < 0) {
    return fail(setup, Step::directory);
  }

  int error = ENOENT;
  for (const char* program : setup.programs) {
    syscall(SYS_execve, program, setup.arguments.data(), setup.environment.data());
    // Report a program that may not be executed rather than one that does not exist.
    if (errno != ENOENT && errno != ENOTDIR) error = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  errno = error;
  return fail(setup, Step::program);
}

std::string reason_of(const ChildSetup& setup, const Command& command) {
  const std::string why = std::strerror(setup.error);
  switch (setup.failed) {
    case Step::journal:
      return "cannot write its entry in the journal beside the state: " + why;
    case Step::groups:
    case Step::group:
    case Step::user:
      return "cannot become user " + quote(command.user) + ": " + why +
             (setup.error == EPERM ? "; run dutiful as root" : "");
    case Step::directory:
      return "cannot enter directory " + quote(command.directory) + ": " + why;
    case Step::program: {
      const std::string& program = command.arguments.front();
      if (setup.error != ENOENT) return "cannot execute " + quote(program) + ": " + why;
      if (program.find('/') == std::string::npos) {
        return "no program " + quote(program) + " in PATH";
      }
      return quote(program) + " or its interpreter does not exist";
    }
    default:
      return "cannot set up the process: " + why;
  }
}

std::optional<UserAccount> account_of(const Command& command) {
  if (command.user.empty()) return std::nullopt;
  std::optional<UserAccount> account;
  try {
    account = find_account(command.user);
  } catch (const std::system_error& error) {
    throw SpawnError("cannot look up user " + quote(command.user) + ": " + error.code().message());
  }
  if (!account) throw SpawnError("no user " + quote(command.user) + " on this host");
  return account;
}

void require(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void fail_to_get(const char* what) {
  const int error = errno;
  throw SpawnError(std::string{"cannot get "} + what + ": " + std::strerror(error) +
                   (error == EMFILE || error == EAGAIN
                        ? "; lower --max-concurrent, or raise the daemon's limits"
                        : ""));
}

}  // namespace

void fill_standard_descriptors() {
  int descriptor = 0;
  do {
    descriptor = open("/dev/null", O_RDWR);  // NOLINT: these three are not close-on-exec
    require(descriptor >= 0, "/dev/null");
  } while (descriptor <= STDERR_FILENO);
  close(descriptor);
}

Spawner::Spawner() {
  fill_standard_descriptors();
  null_ = Descriptor{open("/dev/null", O_RDWR | O_CLOEXEC)};
  require(null_.is_open(), "/dev/null");
  stack_ = mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(stack_ != MAP_FAILED, "a stack");
  require(getrlimit(RLIMIT_NOFILE, &limit_) == 0, "RLIMIT_NOFILE");
  const rlimit raised{.rlim_cur = limit_.rlim_max, .rlim_max = limit_.rlim_max};
  (void)setrlimit(RLIMIT_NOFILE, &raised);
}

Spawner::~Spawner() {
  munmap(stack_, stack_size);
}

Child Spawner::spawn(const Command& command,
                     Environment environment,
                     const JournalLine& line,
                     const UserAccount* account,
                     const Prepare& prepare,
                     int input) {
  ChildSetup setup{.input = input < 0 ? null_.get() : input, .limit = limit_, .line = line};
  setup.account = account != nullptr ? *account : account_of(command);
  if (setup.account) {
    for (const auto& [name, value] : Environment{
             {"HOME", setup.account->home}, {"LOGNAME", command.user}, {"USER", command.user}}) {
      if (!command.environment.contains(name)) environment[name] = value;
    }
    if (setup.account->user == geteuid()) setup.account.reset();  // the daemon is that user already
  }
  if (!command.directory.empty()) setup.directory = command.directory.c_str();

  std::vector<std::string> arguments = command.arguments;
  for (std::string& text : arguments) setup.arguments.push_back(text.data());
  setup.arguments.push_back(nullptr);
  std::vector<std::string> variables;
  variables.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    std::string& variable = variables.emplace_back(name);
    variable += '=';
    variable += value;
    setup.environment.push_back(variable.data());
  }
  setup.environment.push_back(nullptr);
  const std::vector<std::string> places = places_of(command.arguments.front(), environment);
  for (const std::string& place : places) setup.programs.push_back(place.c_str());

  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) fail_to_get("a pipe for its output");
  Child child{.output = Descriptor{pipe_ends[0]}};
  const Descriptor write_end{pipe_ends[1]};
  fcntl(child.output.get(), F_SETFL, O_NONBLOCK);
  setup.output = write_end.get();
  if (prepare) prepare(child.output.get());

  // A signal handler that runs in the child would write to the daemon's memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  child.process = __clone(
      become, static_cast<char*>(stack_) + stack_size, CLONE_VM | CLONE_VFORK | SIGCHLD, &setup);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  if (child.process < 0) fail_to_get("a process");

  // The call returns when the child has become another program or has given up.
  if (setup.failed != Step::none) {
    waitpid(child.process, nullptr, 0);
    throw SpawnError(reason_of(setup, command));
  }
  return child;
}

}  // namespace dutiful
