// Who holds a state: asked by those who only look.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include <dutiful/time.h>

namespace dutiful {

// A process as it entered itself when it took the state.
struct Holder {
  std::int64_t process = 0;  // its number where it runs, which may be in a container
  Instant since{};
  std::string host{};

  friend bool operator==(const Holder&, const Holder&) = default;
};

// Whether somebody holds a state, in the moment of the question.
struct HolderStatus {
  enum class Answer {
    held,
    free,
    unknown,  // the lock cannot be looked at
  };
  Answer answer = Answer::free;
  // Who does. Of a free state: who did, and was killed or crashed, for who ends well leaves no
  // name.
  std::optional<Holder> holder{};
  std::string trouble{};  // why it is unknown, and what to do

  friend bool operator==(const HolderStatus&, const HolderStatus&) = default;
};

// Takes no lock for it, not for a moment: a scheduler that is starting would find it taken. The
// kernel answers, so a process of another container is found too, and the number of a process that
// is gone and was given to another deceives nobody.
[[nodiscard]] HolderStatus read_holder_status(const std::string& state);

// The byte of the state itself that its holder locks too. It is far from those that SQLite locks,
// and from any that a file has. Another process sees it only there, so it is never changed.
inline constexpr off_t state_lock_byte = off_t{1} << 62;

// The file beside the state with the lock.
[[nodiscard]] std::string owner_file_of(const std::string& state);

// "process 1234 since 2025-03-03T10:00:00.000Z on web1", and back.
[[nodiscard]] std::string to_text(const Holder& holder);
[[nodiscard]] std::optional<Holder> parse_holder(const std::string& text);
// The text in a file with a lock, and whom it names.
[[nodiscard]] std::string read_name(int descriptor);
[[nodiscard]] std::optional<Holder> read_holder(int descriptor);
// Whether that process has certainly ended: it was one of this host.
[[nodiscard]] bool is_gone(const Holder& holder);

// The name of this host; of a container, as a rule, its identifier.
[[nodiscard]] std::string host_name();

}  // namespace dutiful
