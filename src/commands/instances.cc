#include "commands/instances.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
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

// Lines that say nothing are passed over: what a host that lost its power made of the file is about
// processes that are gone.
std::vector<Instance> parse(const std::string& text) {
  std::vector<Instance> instances;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    if (line.starts_with('@') || line.starts_with('!')) {
      StartedCommand command{.has_ended = line.starts_with('!')};
      fields.ignore();
      if (!(fields >> command.process >> command.not_before >> command.not_after)) continue;
      if (instances.empty()) continue;
      Instance& owner = instances.back();
      owner.alive_until = std::max(owner.alive_until, command.not_after);
      if (command.process > 0) owner.commands.push_back(command);
    } else if (Instance instance; fields >> instance.name) {
      if (!(fields >> instance.space >> instance.process >> instance.start)) instance.space.clear();
      instances.push_back(std::move(instance));
    }
  }
  return instances;
}

// As line_of_ours() has it. One without a place is at least a random name.
bool is_whole(const Instance& instance) {
  constexpr std::size_t name_min = 16;
  return !instance.space.empty() ||
         (instance.name.size() >= name_min &&
          instance.name.find_first_not_of("0123456789abcdef") == std::string::npos);
}

bool others_could_write(const std::string& path) {
  struct stat file {};
  return lstat(path.c_str(), &file) == 0 && (file.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool was_written_before_this_boot(const std::string& path) {
  struct stat file {};
  timespec now{};
  timespec up{};
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &up);
  return stat(path.c_str(), &file) == 0 && file.st_mtim.tv_sec < now.tv_sec - up.tv_sec;
}

// There were commands, so there was a daemon that wrote itself down.
void refuse_one_that_names_nobody(const std::string& path, const std::vector<Instance>& instances) {
  if (std::ranges::any_of(instances, is_whole) || was_written_before_this_boot(path)) return;
  throw std::runtime_error(
      path +
      " is damaged: it does not name the daemon whose commands were interrupted, and they "
      "may still run; end them if so, then remove it");
}

void refuse_one_that_lives(const std::string& path, const std::vector<Instance>& instances) {
  const std::string space = process_space();
  for (const Instance& instance : instances) {
    if (instance.space.empty() || instance.space != space || instance.process == getpid()) continue;
    const auto process = find_process(instance.process);
    if (!process || process->start != instance.start || process->is_ending) continue;
    throw std::runtime_error("process " + std::to_string(instance.process) +
                             " still works on this state (" + path +
                             "), whose files were removed or replaced meanwhile; end it first");
  }
}

constexpr std::size_t not_before_at = CommandLine::process_at + CommandLine::process_width + 1;
static_assert(CommandLine::not_after_at == not_before_at + CommandLine::ticks_width + 1);
static_assert(CommandLine::size == CommandLine::not_after_at + CommandLine::ticks_width + 1);

}  // namespace

void Instances::refuse(const std::string& reason) const {
  throw StoreError(state_, "cannot be used: " + reason, std::current_exception());
}

Contents Instances::read() const {
  const char* remedy =
      "; it names daemons whose commands may still run: make it readable, or end those commands "
      "and remove it";
  try {
    const PrivateFile file = open_private(path_, O_RDONLY, Demand::ours);
    Contents contents = read_whole(file.descriptor);
    if (file.error != 0) contents.error = file.error;
    if (contents.error == 0 || contents.error == ENOENT) return contents;
    refuse(quote(path_) + " cannot be read: " + std::generic_category().message(contents.error) +
           remedy);
  } catch (const FileError& error) {
    refuse(error.what() + std::string{remedy});
  }
}

// As a whole: by another file that takes its place.
void Instances::write(std::string_view text) const {
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

std::vector<Instance> Instances::enter(const std::string& name, bool was_interrupted) {
  Contents contents = read();
  std::vector<Instance> before = parse(contents.text);
  if (was_interrupted && contents.error == 0) refuse_one_that_names_nobody(path_, before);
  refuse_one_that_lives(path_, before);
  if (others_could_write(path_)) {
    for (Instance& instance : before) instance.commands.clear();
  }
  if (!contents.text.empty() && contents.text.back() != '\n') contents.text += '\n';
  write(contents.text + line_of_ours(name));
  return before;
}

void Instances::keep_only(const std::string& name) {
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

void Instances::clear() {
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) {
    throw std::system_error(errno, std::generic_category(), path_ + " cannot be removed");
  }
}

CommandLine Instances::add() {
  if (!is_at(path_, file_.get())) {
    throw std::runtime_error(path_ +
                             " was removed or replaced, and nothing is run that is not written "
                             "down there; put it back, or restart the daemon");
  }
  if (free_.empty()) {
    free_.reserve(lines_count_ + 1 > free_.capacity() ? 2 * (lines_count_ + 1) : 0);
    free_.push_back(lines_begin_ + static_cast<std::int64_t>(lines_count_ * CommandLine::size));
    ++lines_count_;
  }
  CommandLine line{.file = file_.get(), .place = free_.back(), .tick_length = tick_length()};
  free_.pop_back();
  std::ranges::fill(line.text, ' ');
  line.text[0] = '@';
  line.text[CommandLine::size - 1] = '\n';
  line.put(not_before_at, CommandLine::ticks_width, ticks_now());
  return line;
}

void Instances::remove(const CommandLine& line) noexcept {
  if (line.file < 0) return;
  CommandLine ended = line;
  ended.put(CommandLine::process_at, CommandLine::process_width, 0);
  ended.put(CommandLine::not_after_at, CommandLine::ticks_width, ticks_now());
  // Where it cannot be written, which there is room for, the line names a process that is gone.
  [[maybe_unused]] const ssize_t written =
      pwrite(line.file, ended.text, CommandLine::size, line.place);
  free_.push_back(line.place);
}

void Instances::keep(const CommandLine& line, pid_t process) noexcept {
  if (line.file < 0) return;
  CommandLine kept = line;
  kept.text[0] = '!';
  kept.put(CommandLine::process_at, CommandLine::process_width, process);
  kept.put(CommandLine::not_after_at, CommandLine::ticks_width, ticks_now());
  [[maybe_unused]] const ssize_t written =
      pwrite(line.file, kept.text, CommandLine::size, line.place);
}

}  // namespace dutiful
