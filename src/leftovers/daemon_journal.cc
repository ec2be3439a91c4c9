#include "leftovers/daemon_journal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "files/private_file.h"
#include "posix/file_identity.h"
#include "text/quote.h"

namespace dutiful {
namespace {

bool write_all(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(file.get(), text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

std::string line_of_ours(const std::string& name) {
  const std::string space = process_space();
  const auto self = find_process(getpid());
  std::ostringstream line;
  line << name;
  if (!space.empty() && self) line << ' ' << space << ' ' << self->process << ' ' << self->start;
  line << '\n';
  return line.str();
}

// Skips lines that it cannot read: a power cut may have damaged them, and then the processes that
// they name no longer exist.
std::vector<PreviousDaemon> parse(const std::string& text) {
  std::vector<PreviousDaemon> daemons;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    if (line.starts_with('@') || line.starts_with('!')) {
      StartedCommand command{.has_ended = line.starts_with('!')};
      fields.ignore();
      if (!(fields >> command.process >> command.not_before >> command.not_after)) continue;
      if (daemons.empty()) continue;
      PreviousDaemon& owner = daemons.back();
      owner.alive_until = std::max(owner.alive_until, command.not_after);
      if (command.process > 0) owner.commands.push_back(command);
    } else if (PreviousDaemon daemon; fields >> daemon.name) {
      if (!(fields >> daemon.space >> daemon.process >> daemon.start)) daemon.space.clear();
      daemons.push_back(std::move(daemon));
    }
  }
  return daemons;
}

// Whether line_of_ours() may have written it. If it has no process, its name must be a random one.
bool is_whole(const PreviousDaemon& daemon) {
  constexpr std::size_t name_min = 16;
  return !daemon.space.empty() ||
         (daemon.name.size() >= name_min &&
          daemon.name.find_first_not_of("0123456789abcdef") == std::string::npos);
}

bool others_could_write(const std::string& path) {
  struct stat file {};
  return lstat(path.c_str(), &file) == 0 && (file.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool was_written_before_this_boot(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 && file.st_mtim.tv_sec < boot_time();
}

void require_that_none_lives(const std::string& path, const std::vector<PreviousDaemon>& daemons) {
  const std::string space = process_space();
  for (const PreviousDaemon& daemon : daemons) {
    if (daemon.space.empty() || daemon.space != space || daemon.process == getpid()) continue;
    const auto process = find_process(daemon.process);
    if (!process || process->start != daemon.start || process->is_ending) continue;
    throw std::runtime_error("process " + std::to_string(daemon.process) +
                             " still uses this state (" + quote(path) +
                             "), though its files were removed or replaced; stop it first");
  }
}

}  // namespace

void DaemonJournal::refuse(const std::string& reason) const {
  throw StoreError(state_, "cannot be used: " + reason, std::current_exception());
}

// A run was interrupted, so there was a daemon, which entered its name before it ran anything.
void DaemonJournal::require_a_name(const std::vector<PreviousDaemon>& daemons) const {
  if (std::ranges::any_of(daemons, is_whole) || was_written_before_this_boot(path_)) return;
  refuse(quote(path_) +
         " is damaged: it does not name the daemon whose commands were interrupted, and they may "
         "still run; kill those that do, then remove the file");
}

Contents DaemonJournal::read() const {
  try {
    const PrivateFile file = open_private(path_, O_RDONLY, Demand::ours);
    Contents contents = read_whole(file.descriptor);
    if (file.error != 0) contents.error = file.error;
    if (contents.error == 0 || contents.error == ENOENT) return contents;
    refuse(quote(path_) + " cannot be read: " + std::generic_category().message(contents.error) +
           "; it names daemons whose commands may still run: make it readable, or kill those "
           "commands and remove it");
  } catch (const FileError& error) {
    // The remedy of the error takes the file away, and with it the names.
    refuse(error.what() + std::string{", but first kill the commands of the previous daemon, which "
                                      "may still run"});
  }
}

// Writes another file and renames it, so that the journal is never half written.
void DaemonJournal::write(std::string_view text) const {
  const std::string next = path_ + "-next";
  int error = 0;
  try {
    const PrivateFile made = make_private_anew(next, O_WRONLY);
    const Descriptor& file = made.descriptor;
    if (file.is_open() && write_all(file, text) && std::rename(next.c_str(), path_.c_str()) == 0) {
      return;
    }
    error = file.is_open() ? errno : made.error;
    if (file.is_open()) unlink(next.c_str());
  } catch (const FileError& refused) {
    refuse(refused.what());
  }
  refuse(quote(path_) + " cannot be written: " + std::generic_category().message(error));
}

std::vector<PreviousDaemon> DaemonJournal::enter(const std::string& name, bool was_interrupted) {
  Contents contents = read();
  std::vector<PreviousDaemon> before = parse(contents.text);
  if (was_interrupted && contents.error == 0) require_a_name(before);
  require_that_none_lives(path_, before);
  if (others_could_write(path_)) {
    for (PreviousDaemon& daemon : before) daemon.commands.clear();
  }
  if (!contents.text.empty() && contents.text.back() != '\n') contents.text += '\n';
  write(contents.text + line_of_ours(name));
  return before;
}

void DaemonJournal::keep_only(const std::string& name) {
  const std::string ours = line_of_ours(name);
  write(ours);
  try {
    PrivateFile file = open_private(path_, O_WRONLY);
    file_ = std::move(file.descriptor);
    if (!file_.is_open()) {
      refuse(quote(path_) + " cannot be written: " + std::generic_category().message(file.error));
    }
  } catch (const FileError& refused) {
    refuse(refused.what());
  }
  lines_begin_ = static_cast<std::int64_t>(ours.size());
  lines_count_ = 0;
  free_.clear();
}

void DaemonJournal::clear() {
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) {
    throw std::system_error(errno, std::generic_category(), quote(path_) + " cannot be removed");
  }
}

JournalLine DaemonJournal::add() {
  if (!is_at(path_, file_.get())) {
    throw std::runtime_error(quote(path_) +
                             " was removed or replaced, and no command is started without an entry "
                             "in it; put it back, or restart the daemon");
  }
  if (free_.empty()) {
    free_.reserve(lines_count_ + 1 > free_.capacity() ? 2 * (lines_count_ + 1) : 0);
    free_.push_back(lines_begin_ + static_cast<std::int64_t>(lines_count_ * JournalLine::size));
    ++lines_count_;
  }
  JournalLine line{.file = file_.get(), .place = free_.back(), .tick_length = tick_length()};
  free_.pop_back();
  std::ranges::fill(line.text, ' ');
  line.text[0] = '@';
  line.text[JournalLine::size - 1] = '\n';
  line.put(JournalLine::not_before_at, JournalLine::ticks_width, ticks_now());
  return line;
}

void DaemonJournal::remove(const JournalLine& line) noexcept {
  if (line.file < 0) return;
  JournalLine ended = line;
  ended.put(JournalLine::process_at, JournalLine::process_width, 0);
  ended.put(JournalLine::not_after_at, JournalLine::ticks_width, ticks_now());
  // There is room for it. If the write fails all the same, the line names a process that no longer
  // exists.
  [[maybe_unused]] const ssize_t written =
      pwrite(line.file, ended.text, JournalLine::size, line.place);
  free_.push_back(line.place);
}

void DaemonJournal::keep(const JournalLine& line, pid_t process) noexcept {
  if (line.file < 0) return;
  JournalLine kept = line;
  kept.text[0] = '!';
  kept.put(JournalLine::process_at, JournalLine::process_width, process);
  kept.put(JournalLine::not_after_at, JournalLine::ticks_width, ticks_now());
  [[maybe_unused]] const ssize_t written =
      pwrite(line.file, kept.text, JournalLine::size, line.place);
}

}  // namespace dutiful
