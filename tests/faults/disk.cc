#include "faults/disk.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dutiful::faults {
namespace {

// Not a distribution of the standard library, because a seed must mean the same everywhere.
std::size_t up_to(std::size_t most, std::mt19937& random) {
  return random() % (most + 1);
}

}  // namespace

Disk::Disk(const Files& files, std::set<std::string> elsewhere) : elsewhere_(std::move(elsewhere)) {
  for (const auto& [name, content] : files) {
    names_[name] = files_.size();
    files_.push_back({content, {}});
  }
  synced_names_ = names_;
}

void Disk::on(const LoggedCall& logged) {
  ++calls_;
  if (!logged.succeeded) return;
  const Call& call = logged.call;
  switch (call.kind) {
    case Kind::create:
      files_.push_back({});
      name_file(call.file, files_.size() - 1);
      break;
    case Kind::unlink:
      name_file(call.file, std::nullopt);
      break;
    case Kind::rename:
      name_file(call.data, names_.at(call.file));
      name_file(call.file, std::nullopt);
      break;
    case Kind::write:
      change(call.file, {calls_, static_cast<std::size_t>(call.offset), call.data});
      break;
    case Kind::truncate:
      change(call.file, {calls_, 0, {}, static_cast<std::size_t>(call.offset)});
      break;
    case Kind::sync:
      if (call.file == the_directory) {
        synced_names_ = names_;
        renamings_.clear();
      } else {
        File& file = file_of(call.file);
        for (const Change& made : std::exchange(file.changes, {})) apply(made, file.synced);
      }
      break;
    default:
      break;
  }
}

Disk::File& Disk::file_of(const std::string& name) {
  const auto found = names_.find(name);
  if (found == names_.end()) throw std::runtime_error("a call on what is not there: " + name);
  return files_[found->second];
}

void Disk::name_file(const std::string& name, std::optional<std::size_t> file) {
  const Renaming renaming{calls_, name, file};
  apply(renaming, names_);
  if (elsewhere_.contains(name)) {
    apply(renaming, synced_names_);
  } else {
    renamings_.push_back(renaming);
  }
}

void Disk::change(const std::string& name, Change change) {
  File& file = file_of(name);
  if (elsewhere_.contains(name)) {
    apply(change, file.synced);
  } else {
    file.changes.push_back(std::move(change));
  }
}

void Disk::apply(const Change& change, std::string& content) {
  if (change.truncated) {
    content.resize(*change.truncated);
    return;
  }
  content.resize(std::max(content.size(), change.begin + change.data.size()));
  content.replace(change.begin, change.data.size(), change.data);
}

void Disk::apply(const Renaming& renaming, Names& names) {
  if (renaming.file) {
    names[renaming.name] = *renaming.file;
  } else {
    names.erase(renaming.name);
  }
}

bool Disk::is_synced() const {
  return renamings_.empty() &&
         std::ranges::all_of(files_, [](const File& file) { return file.changes.empty(); });
}

Files Disk::after_cut(Kept kept, std::mt19937& random) const {
  Files left;
  if (kept == Kept::sectors) {
    for (const auto& [name, file] : some_names(random)) {
      left[name] = some_sectors(files_[file], random);
    }
    return left;
  }
  const std::uint64_t last = kept == Kept::nothing      ? 0
                             : kept == Kept::everything ? calls_
                                                        : up_to(calls_, random);
  Names names = synced_names_;
  for (const Renaming& renaming : renamings_) {
    if (renaming.number <= last) apply(renaming, names);
  }
  for (const auto& [name, file] : names) {
    std::string content = files_[file].synced;
    for (const Change& change : files_[file].changes) {
      if (change.number <= last) apply(change, content);
    }
    left[name] = std::move(content);
  }
  return left;
}

// Each name is as it was after some of the calls that changed it.
Disk::Names Disk::some_names(std::mt19937& random) const {
  std::map<std::string, std::vector<Renaming>> by_name;
  for (const Renaming& renaming : renamings_) by_name[renaming.name].push_back(renaming);
  Names names = synced_names_;
  for (const auto& [name, renamings] : by_name) {
    const std::size_t done = up_to(renamings.size(), random);
    for (std::size_t i = 0; i < done; ++i) apply(renamings[i], names);
  }
  return names;
}

std::string Disk::some_sectors(const File& file, std::mt19937& random) {
  // Its size after some of the changes, and a file large enough for all of them.
  std::string grown = file.synced;
  std::size_t size = grown.size();
  std::size_t largest = size;
  const std::size_t sized = up_to(file.changes.size(), random);
  for (std::size_t i = 0; i < file.changes.size(); ++i) {
    apply(file.changes[i], grown);
    if (i < sized) size = grown.size();
    largest = std::max(largest, grown.size());
  }

  std::string content(largest, '\0');
  for (std::size_t begin = 0; begin < size; begin += sector_size) {
    const std::size_t end = std::min(begin + sector_size, largest);
    std::vector<const Change*> touching;
    for (const Change& change : file.changes) {
      const bool touches = change.truncated
                               ? *change.truncated < end
                               : change.begin < end && change.begin + change.data.size() > begin;
      if (touches) touching.push_back(&change);
    }
    std::string sector(end - begin, '\0');
    if (begin < file.synced.size()) {
      file.synced.copy(sector.data(), sector.size(), begin);
    }
    const std::size_t done = up_to(touching.size(), random);
    for (std::size_t i = 0; i < done; ++i) {
      const Change& change = *touching[i];
      if (change.truncated) {
        const std::size_t from = std::max(*change.truncated, begin);
        std::fill(sector.begin() + static_cast<std::ptrdiff_t>(from - begin), sector.end(), '\0');
      } else {
        const std::size_t from = std::max(change.begin, begin);
        const std::size_t to = std::min(change.begin + change.data.size(), end);
        change.data.copy(sector.data() + (from - begin), to - from, from - change.begin);
      }
    }
    content.replace(begin, sector.size(), sector);
  }
  content.resize(size);
  return content;
}

}  // namespace dutiful::faults
