// Which process holds a state. Asking changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include <dutiful/time.h>

namespace dutiful {

// A process, as it named itself when it took the state.
struct Holder {
  std::int64_t process = 0;  // its number, in its own process namespace
  Instant since{};
  std::string host{};

  friend bool operator==(const Holder&, const Holder&) = default;
};

// Whether a process holds a state at the moment of the question.
struct HolderStatus {
  enum class Answer {
    held,
    free,
    unknown,  // the lock cannot be examined
  };
  Answer answer = Answer::free;
  // The holder. For a free state: the last holder if it was killed or crashed; a holder that ends
  // normally removes its name.
  std::optional<Holder> holder{};
  std::string trouble{};  // why the answer is unknown, and what to do

  friend bool operator==(const HolderStatus&, const HolderStatus&) = default;
};

// Takes no lock, not even for a moment, because a scheduler that is starting would find the state
// held. The kernel answers, so a holder in another container is found too, and a process number
// that was reused does not mislead.
[[nodiscard]] HolderStatus read_holder_status(const std::string& state);

// The byte of the state file that its holder also locks. It is far beyond the bytes that SQLite
// locks and the end of any file. Other processes look for the lock at this byte, so it never
// changes.
inline constexpr off_t state_lock_byte = off_t{1} << 62;

// The path of the file beside the state that names the holder and carries its lock.
[[nodiscard]] std::string owner_file_of(const std::string& state);

// "process 1234 since 2025-03-03T10:00:00.000Z on web1", and back.
[[nodiscard]] std::string to_text(const Holder& holder);
[[nodiscard]] std::optional<Holder> parse_holder(const std::string& text);
// The text of the file that names the holder, and the holder it names.
[[nodiscard]] std::string read_name(int descriptor);
[[nodiscard]] std::optional<Holder> read_holder(int descriptor);
// Whether that process has certainly ended. Only known for a process of this host.
[[nodiscard]] bool is_gone(const Holder& holder);

// The name of this host. In a container it is usually the container's identifier.
[[nodiscard]] std::string host_name();

}  // namespace dutiful
