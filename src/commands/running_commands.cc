#include "commands/running_commands.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace dutiful {
namespace {

// Stands for the process of a command that has none yet.
constexpr pid_t no_process = 0;

}  // namespace

bool is_group_gone(pid_t group) noexcept {
  return kill(-group, 0) != 0 && errno == ESRCH;
}

RunningCommands::RunningCommands(Options options) : options_(std::move(options)) {}

RunningCommands::Place::Place(RunningCommands& table, Serial serial)
    : table_(table), serial_(serial) {
  try {
    table_.deadlines_.insert({RunningCommand::never, serial});
    table_.commands_.try_emplace(serial);
    table_.by_process_.emplace(no_process, serial);
  } catch (...) {
    table_.commands_.erase(serial);
    table_.deadlines_.erase({RunningCommand::never, serial});
    throw;
  }
}

RunningCommands::Place::~Place() {
  if (is_taken_) return;
  table_.by_process_.erase(no_process);
  table_.commands_.erase(serial_);
  table_.deadlines_.erase({RunningCommand::never, serial_});
}

RunningCommand& RunningCommands::Place::take(std::unique_ptr<RunningCommand> command) noexcept {
  auto entry = table_.by_process_.extract(no_process);
  entry.key() = command->child.process;
  table_.by_process_.insert(std::move(entry));
  is_taken_ = true;
  return *(table_.commands_.find(serial_)->second = std::move(command));
}

RunningCommand* RunningCommands::find(Serial serial) noexcept {
  const auto found = commands_.find(serial);
  return found == commands_.end() ? nullptr : found->second.get();
}

void RunningCommands::limit(RunningCommand& command, Time deadline) noexcept {
  if (command.stage == RunningCommand::Stage::running) {
    enter(RunningCommand::Stage::running, deadline, command);
  }
}

void RunningCommands::terminate(RunningCommand& command, Time now) {
  if (command.stage != RunningCommand::Stage::running) return;
  kill(-command.child.process, SIGTERM);
  // A stopped process cannot end before it is continued.
  kill(-command.child.process, SIGCONT);
  enter(RunningCommand::Stage::terminating, now + options_.kill_grace, command);
}

void RunningCommands::kill_all() noexcept {
  for (auto& [serial, command] : commands_) kill(-command->child.process, SIGKILL);
}

void RunningCommands::on_death(pid_t process, int status, const rusage& usage) {
  const auto found = by_process_.find(process);
  if (found == by_process_.end()) return;
  RunningCommand& command = *commands_.at(found->second);
  by_process_.erase(found);
  command.is_reaped = true;
  command.result.process = process;
  record_end(command.result, status, usage);
  if (command.stage == RunningCommand::Stage::running || is_group_gone(process)) {
    end(command.serial);
  }
}

void RunningCommands::end_dead_groups() {
  for (auto next = deadlines_.begin();
       next != deadlines_.end() && next->first != RunningCommand::never;) {
    const RunningCommand& command = *commands_.at((next++)->second);
    if (command.is_reaped && is_group_gone(command.child.process)) end(command.serial);
  }
}

void RunningCommands::enforce_deadlines(Time now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    RunningCommand& command = *commands_.at(deadlines_.begin()->second);
    if (command.stage == RunningCommand::Stage::running) {
      command.result.past_time_limit = true;
      terminate(command, now);
      continue;
    }
    if (command.stage == RunningCommand::Stage::terminating) {
      kill(-command.child.process, SIGKILL);
    } else if (command.is_reaped) {
      command.has_leftovers = true;
      end(command.serial);
      continue;
    }
    // The run does not end before the command itself, however long that takes.
    enter(RunningCommand::Stage::killed, now + options_.death_max, command);
  }
}

RunningCommands::Time RunningCommands::next_deadline() const noexcept {
  return deadlines_.empty() ? RunningCommand::never : deadlines_.begin()->first;
}

void RunningCommands::enter(RunningCommand::Stage stage,
                            Time deadline,
                            RunningCommand& command) noexcept {
  auto entry = deadlines_.extract({command.deadline, command.serial});
  command.stage = stage;
  command.deadline = deadline;
  entry.value().first = deadline;
  deadlines_.insert(std::move(entry));
}

void RunningCommands::end(Serial serial) {
  const auto found = commands_.find(serial);
  std::unique_ptr<RunningCommand> command = std::move(found->second);
  commands_.erase(found);
  deadlines_.erase({command->deadline, serial});
  options_.on_end(std::move(command));
}

}  // namespace dutiful
