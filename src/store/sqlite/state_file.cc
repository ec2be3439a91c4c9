#include "store/sqlite/state_file.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "posix/descriptor.h"

namespace dutiful {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

// As many as Linux follows.
constexpr int links_max = 40;

// Every SQLite database begins with this, including the zero.
constexpr auto signature = "SQLite format 3\0"sv;
// Every rollback journal begins with this.
constexpr auto journal_signature = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"sv;

// At most the first `size` bytes of a file; none if it cannot be read.
std::string begin_of(const std::string& path, std::size_t size) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file.is_open()) return "";
  std::string begin(size, '\0');
  const ssize_t read = pread(file.get(), begin.data(), begin.size(), 0);
  begin.resize(static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
  return begin;
}

}  // namespace

std::string resolve_state(const std::string& state) {
  std::error_code error;
  if (const auto whole = fs::canonical(state, error); !error) return whole.string();
  fs::path path = state;
  for (int links = 0; links < links_max; ++links) {
    const auto target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  const auto directory = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
  return error ? state : (directory / path.filename()).string();
}

std::string file_beside(const std::string& state, std::string_view ending) {
  return resolve_state(state).append(ending);
}

std::string why_no_file(const std::string& state) {
  std::error_code error;
  const auto status = fs::status(state, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return "";
  return fs::is_directory(status)
             ? "is a directory; give the state file in it that dutiful run uses"
             : "is not a regular file; give the state that dutiful run uses";
}

bool has_mark_of_state(int descriptor) {
  constexpr off_t mark_at = 68;  // in the header of a database, big-endian
  std::array<unsigned char, 4> bytes{};
  const ssize_t size = pread(descriptor, bytes.data(), bytes.size(), mark_at);
  if (size == 0) return lseek(descriptor, 0, SEEK_END) == 0;
  std::uint32_t mark = 0;
  for (const unsigned char byte : bytes) mark = mark << 8U | byte;
  return size == static_cast<ssize_t>(bytes.size()) && mark == state_mark;
}

void refuse_no_state(const std::string& state) {
  if (const std::string reason = why_no_file(state); !reason.empty()) {
    throw StoreError(state, reason);
  }
  const std::string begin = begin_of(state, signature.size());
  // The file does not exist, or opening it will report what is wrong. An empty file counts as none.
  if (begin.empty() || begin == signature) return;
  // A power cut tore the first page. SQLite will roll it back.
  const std::string journal = file_beside(state, "-journal");
  if (begin_of(journal, journal_signature.size()) == journal_signature) return;
  throw StoreError(state, no_database);
}

}  // namespace dutiful
