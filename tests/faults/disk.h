// What a power cut leaves of a directory, given the calls made on it before.
//
// The model is as unkind as SQLite expects a disk to be:
//
// - The content of a file at its last sync is kept. Each sector of 512 bytes written since may be
//   kept or lost, or be as it was after any of the writes to it: a disk writes sectors in any
//   order, but never a part of one.
// - The size of a file is any that it had since its last sync. Bytes beyond what was kept are zero.
// - A name leads to the file it had when the directory was last synced, or to any file it had
//   since, or to none if it was removed. Syncing a file does not sync its name.
// - fsync and fdatasync are the same: SQLite relies on fdatasync only for a file's bytes and size.
//
// A file may be declared to lie elsewhere, on a disk that loses nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "faults/call.h"

namespace dutiful::faults {

// A directory: the contents of its files by name.
using Files = std::map<std::string, std::string>;

class Disk {
 public:
  // `files` are all synced.
  explicit Disk(const Files& files, std::set<std::string> elsewhere = {});

  // The next call. Ignored if it failed.
  void on(const LoggedCall& logged);

  // How much of what is not synced is kept …
  enum class Kept : std::uint8_t {
    nothing,
    everything,
    beginning,  // up to some write, in the order of the calls
    sectors,    // … by the model above
  };
  [[nodiscard]] Files after_cut(Kept kept, std::mt19937& random) const;

  // Whether there is anything to lose.
  [[nodiscard]] bool is_synced() const;

 private:
  static constexpr std::size_t sector_size = 512;

  struct Change {
    std::uint64_t number;  // in the order of all calls
    std::size_t begin;
    std::string data;
    std::optional<std::size_t> truncated{};  // set for a truncation
  };
  struct File {
    std::string synced;
    std::vector<Change> changes;
  };
  struct Renaming {
    std::uint64_t number;
    std::string name;
    std::optional<std::size_t> file;  // in files_; none if it was removed
  };
  using Names = std::map<std::string, std::size_t>;

  [[nodiscard]] File& file_of(const std::string& name);
  void name_file(const std::string& name, std::optional<std::size_t> file);
  void change(const std::string& name, Change change);
  static void apply(const Change& change, std::string& content);
  static void apply(const Renaming& renaming, Names& names);
  [[nodiscard]] static std::string some_sectors(const File& file, std::mt19937& random);
  [[nodiscard]] Names some_names(std::mt19937& random) const;

  std::set<std::string> elsewhere_;
  std::vector<File> files_;
  Names names_;                      // now
  Names synced_names_;               // when the directory was last synced
  std::vector<Renaming> renamings_;  // since then
  std::uint64_t calls_ = 0;
};

}  // namespace dutiful::faults
