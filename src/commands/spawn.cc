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

#include "commands/account.h"
#include "commands/search_path.h"
#include "text/quote.h"

// The C library's own clone(). ThreadSanitizer puts another in its place, which takes the child for
// one with a memory of its own, and is lost from then on.
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace dutiful {
namespace {

constexpr std::size_t stack_size = 64UL * 1024;

// How many bytes the kernel's set of signals has.
constexpr std::size_t kernel_signals_size = 8;
constexpr int signal_max = 64;

// What the child does before it is another program; where one fails, it says which.
enum class Step { none, session, record, descriptors, groups, group, user, directory, program };

// All that the child needs, made beforehand: the two share their memory, so it may not allocate,
// lock, or call anything of the C library that keeps a state. Bare system calls also pass by
// setuid()'s habit of telling all threads of the process, which would be the daemon's.
struct Plan {
  std::vector<char*> arguments{};
  std::vector<char*> environment{};
  std::vector<const char*> programs{};  // the paths to try, in that order
  const char* directory = nullptr;
  std::optional<Account> account{};
  int input = -1;
  int output = -1;
  rlimit limit{};
  CommandLine line{};

  Step failed = Step::none;
  int error = 0;
};

__attribute__((no_sanitize("address", "thread", "undefined"))) int fail(Plan& plan, Step step) {
  plan.failed = step;
  plan.error = errno;
  syscall(SYS_exit_group, 127);
  return 127;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool write_down(CommandLine& line) {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
  const std::int64_t nanoseconds = now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  line.put(CommandLine::process_at, CommandLine::process_width, syscall(SYS_getpid));
  line.put(CommandLine::not_after_at, CommandLine::ticks_width, nanoseconds / line.tick_length);
  const long written = syscall(SYS_pwrite64, line.file, line.text, CommandLine::size, line.place);
  if (written >= 0 && written != static_cast<long>(CommandLine::size)) errno = ENOSPC;
  return written == static_cast<long>(CommandLine::size);
}

// Runs in the child, on a stack of its own.
__attribute__((no_sanitize("address", "thread", "undefined"))) int become(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  if (syscall(SYS_setsid) < 0) return fail(plan, Step::session);
  if (plan.line.file >= 0 && !write_down(plan.line)) return fail(plan, Step::record);

  // Ignored signals stay ignored across an exec, so each is given back its default.
  const std::array<unsigned long, 4> default_action{};
  for (int signal = 1; signal <= signal_max; ++signal) {
    syscall(SYS_rt_sigaction, signal, default_action.data(), nullptr, kernel_signals_size);
  }
  const unsigned long none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kernel_signals_size);

  if (syscall(SYS_dup3, plan.input, STDIN_FILENO, 0) < 0 ||
      syscall(SYS_dup3, plan.output, STDOUT_FILENO, 0) < 0 ||
      syscall(SYS_dup3, plan.output, STDERR_FILENO, 0) < 0) {
    return fail(plan, Step::descriptors);
  }
  // Kernels without it: our own descriptors close at the exec.
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
  syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &plan.limit, nullptr);

  if (plan.account) {
    const Account& account = *plan.account;
    if (syscall(SYS_setgroups, account.groups.size(), account.groups.data()) < 0) {
      return fail(plan, Step::groups);
    }
    if (syscall(SYS_setgid, account.group) < 0) return fail(plan, Step::group);
    if (syscall(SYS_setuid, account.user) < 0) return fail(plan, Step::user);
  }
  if (plan.directory != nullptr && syscall(SYS_chdir, plan.directory) < 0) {
    return fail(plan, Step::directory);
  }

  int error = ENOENT;
  for (const char* program : plan.programs) {
    syscall(SYS_execve, program, plan.arguments.data(), plan.environment.data());
    // One that may not be run is worth more words than one that is not there.
    if (errno != ENOENT && errno != ENOTDIR) error = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  errno = error;
  return fail(plan, Step::program);
}

std::string reason_of(const Plan& plan, const Command& command) {
  const std::string why = std::strerror(plan.error);
  switch (plan.failed) {
    case Step::record:
      return "it cannot be written down beside the state: " + why;
    case Step::groups:
    case Step::group:
    case Step::user:
      return "it cannot become the user " + quote(command.user) + ": " + why +
             (plan.error == EPERM ? "; run dutiful as root" : "");
    case Step::directory:
      return "its directory " + quote(command.directory) + " cannot be entered: " + why;
    case Step::program: {
      const std::string& program = command.arguments.front();
      if (plan.error != ENOENT) return quote(program) + " cannot be executed: " + why;
      if (program.find('/') == std::string::npos) {
        return "there is no program " + quote(program) + " on the PATH";
      }
      return quote(program) + ", or the interpreter it names, does not exist";
    }
    default:
      return "the process could not be set up: " + why;
  }
}

std::optional<Account> account_of(const Command& command) {
  if (command.user.empty()) return std::nullopt;
  std::optional<Account> account;
  try {
    account = find_account(command.user);
  } catch (const std::system_error& error) {
    throw SpawnError("the user " + quote(command.user) +
                     " cannot be looked up: " + error.code().message());
  }
  if (!account) throw SpawnError("there is no user " + quote(command.user) + " on this host");
  return account;
}

void require(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void fail_for_want_of(const char* what) {
  const int error = errno;
  throw SpawnError(std::string{what} + ": " + std::strerror(error) +
                   (error == EMFILE || error == EAGAIN
                        ? "; lower --max-concurrent, or raise the daemon's limits"
                        : ""));
}

}  // namespace

void fill_standard_descriptors() {
  int descriptor = 0;
  do {
    descriptor = open("/dev/null", O_RDWR);  // NOLINT: not close-on-exec, as these three are
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
                     const CommandLine& line,
                     const Account* account,
                     const Prepare& prepare) {
  Plan plan{.input = null_.get(), .limit = limit_, .line = line};
  plan.account = account != nullptr ? *account : account_of(command);
  if (plan.account) {
    for (const auto& [name, value] : Environment{
             {"HOME", plan.account->home}, {"LOGNAME", command.user}, {"USER", command.user}}) {
      if (!command.environment.contains(name)) environment[name] = value;
    }
    if (plan.account->user == geteuid()) plan.account.reset();  // it is that user already
  }
  if (!command.directory.empty()) plan.directory = command.directory.c_str();

  std::vector<std::string> arguments = command.arguments;
  for (std::string& text : arguments) plan.arguments.push_back(text.data());
  plan.arguments.push_back(nullptr);
  std::vector<std::string> variables;
  variables.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    std::string& variable = variables.emplace_back(name);
    variable += '=';
    variable += value;
    plan.environment.push_back(variable.data());
  }
  plan.environment.push_back(nullptr);
  const std::vector<std::string> places = places_of(command.arguments.front(), environment);
  for (const std::string& place : places) plan.programs.push_back(place.c_str());

  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) fail_for_want_of("no pipe for its output");
  Child child{.output = Descriptor{pipe_ends[0]}};
  const Descriptor write_end{pipe_ends[1]};
  fcntl(child.output.get(), F_SETFL, O_NONBLOCK);
  plan.output = write_end.get();
  if (prepare) prepare(child.output.get());

  // A handler that ran in the child would write to the daemon's memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  child.process = __clone(
      become, static_cast<char*>(stack_) + stack_size, CLONE_VM | CLONE_VFORK | SIGCHLD, &plan);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  if (child.process < 0) fail_for_want_of("no process for it");

  // The call has returned because the child is another program by now, or has given up.
  if (plan.failed != Step::none) {
    waitpid(child.process, nullptr, 0);
    throw SpawnError(reason_of(plan, command));
  }
  return child;
}

}  // namespace dutiful
