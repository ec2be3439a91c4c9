#include "faults/life.h"

#include <csignal>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dutiful::faults {
namespace {

// The environment of this process plus the shim, without faults meant for another.
std::vector<std::string> environment_for(const Conditions& conditions) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (!text.starts_with("DUTIFUL_FAULTS") && !text.starts_with("LD_PRELOAD=")) {
      variables.emplace_back(text);
    }
  }
  const auto set = [&](const char* name, const std::string& value) {
    variables.push_back(std::string{name} + '=' + value);
  };
  set("LD_PRELOAD", DUTIFUL_FAULT_SHIM);
  set(variable_directory, conditions.directory);
  if (conditions.fault) set(variable_fault, to_text(*conditions.fault));
  if (!conditions.log.empty()) set(variable_log, conditions.log);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Reads lines until the end; returns false if there was nothing to read for too long.
bool read_words(int descriptor, Words& words) {
  constexpr int patience_ms = 60'000;
  std::string line;
  char buffer[4096];
  while (true) {
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t size = read(descriptor, buffer, sizeof buffer);
    if (size <= 0) return true;
    for (const char c : std::string_view{buffer, static_cast<std::size_t>(size)}) {
      if (c == '\n') {
        words.push_back(std::exchange(line, {}));
      } else {
        line += c;
      }
    }
  }
}

}  // namespace

bool Life::was_killed() const {
  return !hung && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

bool Life::has_exited() const {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Life live(const Conditions& conditions) {
  std::vector<std::string> arguments{DUTIFUL_FAULT_VICTIM, conditions.directory};
  arguments.insert(arguments.end(), conditions.arguments.begin(), conditions.arguments.end());
  auto variables = environment_for(conditions);

  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t process = 0;
  const int error = posix_spawn(&process,
                                DUTIFUL_FAULT_VICTIM,
                                &actions,
                                nullptr,
                                pointers_to(arguments).data(),
                                pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) throw std::runtime_error("no victim");

  Life life;
  life.hung = !read_words(ends[0], life.words);
  if (life.hung) kill(process, SIGKILL);
  waitpid(process, &life.status, 0);
  close(ends[0]);
  return life;
}

}  // namespace dutiful::faults
