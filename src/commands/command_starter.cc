#include "commands/command_starter.h"

#include "commands/command_input.h"
#include "leftovers/daemon_journal.h"
#include "leftovers/marks.h"

namespace dutiful {

CommandStarter::CommandStarter(const Options& options)
    : journal_(options.journal), environment_(daemon_environment()) {
  if (!options.instance.empty()) environment_[instance_variable] = options.instance;
}

void CommandStarter::start(RunningCommand& running,
                           const Command& command,
                           const UserAccount* account,
                           const Beside* beside,
                           const Spawner::Prepare& prepare) {
  Environment environment = run_environment(environment_, command, running.run.info());
  Descriptor input;
  if (beside != nullptr) {
    for (const auto& [name, value] : beside->variables) environment[name] = value;
    input = input_of(beside->input);
  }
  if (journal_ != nullptr) running.line = journal_->add();
  try {
    running.child = spawner_.spawn(
        command, std::move(environment), running.line, account, prepare, input.get());
  } catch (...) {
    record_end(running);
    throw;
  }
}

void CommandStarter::record_end(const RunningCommand& running) noexcept {
  if (journal_ == nullptr) return;
  if (running.has_leftovers) {
    DaemonJournal::keep(running.line, running.child.process);
  } else {
    journal_->remove(running.line);
  }
}

}  // namespace dutiful
