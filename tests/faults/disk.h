// What a power cut leaves of a directory, given the calls that were made on it before.
//
// The model, which is as unkind as SQLite expects a disk to be:
//
// - What a file held when it was last synced is there. Of what was written to it since, every
//   sector of 512 bytes may be there or not, or as it was after any of the writes that touched it:
//   a disk writes in any order, but no sector in part.
// - The size of a file may be any that it had since it was last synced. Where it is larger than
//   what was written, there are zeros.
// - A name is that of the file that it was when the directory was last synced, or of any that it
//   has been since, or of none where it was removed. To sync a file does not sync its name.
// - A sync of a file, and of its data only, are one: SQLite needs no more of the latter than its
//   bytes and its size.
//
// A file may be said to lie elsewhere, on a disk that loses nothing.
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

// A directory: what its files hold, by their names.
using Files = std::map<std::string, std::string>;

class Disk {
 public:
  // `files` have been there for ever.
  explicit Disk(const Files& files, std::set<std::string> elsewhere = {});

  // The next call, unless it failed.
  void on(const LoggedCall& logged);

  // What is not synced is there …
  enum class Kept : std::uint8_t {
    nothing,
    everything,
    beginning,  // up to some write, in the order of the calls
    sectors,    // … as the model above says
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
    std::optional<std::size_t> truncated{};  // then it is no write
  };
  struct File {
    std::string synced;
    std::vector<Change> changes;
  };
  struct Renaming {
    std::uint64_t number;
    std::string name;
    std::optional<std::size_t> file;  // in files_; none: it was removed
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
  Names synced_names_;               // when the directory was last synced,
  std::vector<Renaming> renamings_;  // and since
  std::uint64_t calls_ = 0;
};

}  // namespace dutiful::faults
