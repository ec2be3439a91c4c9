// The events that `dutiful run` adds to its scheduler's, in the same form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <dutiful/events.h>
#include <dutiful/time.h>

namespace dutiful::event {

struct TaskFileLoaded {
  static constexpr std::string_view name = "TaskFileLoaded";
  static constexpr Level level = Level::info;
  std::string file;
  std::int64_t tasks = 0;
  std::string state;

  void fields(auto& add) const {
    add("file", file);
    add("tasks", tasks);
    add("state", state);
  }
};

struct TaskFileRejected {
  static constexpr std::string_view name = "TaskFileRejected";
  static constexpr Level level = Level::error;
  std::string error;

  void fields(auto& add) const { add("error", error); }
};

struct TaskFileWarning {
  static constexpr std::string_view name = "TaskFileWarning";
  static constexpr Level level = Level::warning;
  std::string file;
  std::optional<std::int64_t> line{};
  std::optional<std::int64_t> column{};
  std::string warning;

  void fields(auto& add) const {
    add("file", file);
    add("line", line);
    add("column", column);
    add("warning", warning);
  }
};

// Keys of the task file that the scheduler does not know; the others are TaskOverridden.
struct TaskChanged {
  static constexpr std::string_view name = "TaskChanged";
  static constexpr Level level = Level::info;
  struct Timeouts {
    Duration before{};  // zero: none
    Duration after{};
  };
  std::string task;
  std::string keys;  // separated by commas
  std::optional<Timeouts> timeouts{};

  void fields(auto& add) const {
    add("taskName", task);
    add("changeType", keys);
    if (timeouts) {
      add("oldTimeoutMs", timeouts->before);
      add("newTimeoutMs", timeouts->after);
    }
  }
};

struct LeftoversEnded {
  static constexpr std::string_view name = "LeftoversEnded";
  static constexpr Level level = Level::warning;
  std::int64_t count = 0;

  void fields(auto& add) const { add("count", count); }
};

struct CommandsEnding {
  static constexpr std::string_view name = "CommandsEnding";
  static constexpr Level level = Level::warning;
  std::string reason;

  void fields(auto& add) const { add("reason", reason); }
};

struct TaskOutput {
  static constexpr std::string_view name = "TaskOutput";
  static constexpr Level level = Level::info;
  std::string task;
  std::string text;  // one line

  void fields(auto& add) const {
    add("taskName", task);
    add("text", text);
  }
};

struct HistoryFailed {
  static constexpr std::string_view name = "HistoryFailed";
  static constexpr Level level = Level::warning;
  std::string error;
  std::int64_t waiting = 0;  // runs kept in memory
  std::int64_t lost = 0;     // runs dropped since the last report
  std::optional<Instant> next_try{};

  void fields(auto& add) const {
    add("error", error);
    add("waiting", waiting);
    add("lost", lost);
    add("nextTryAt", next_try);
  }
};

struct HistoryRecovered {
  static constexpr std::string_view name = "HistoryRecovered";
  static constexpr Level level = Level::info;
  std::int64_t written = 0;
  std::int64_t lost = 0;

  void fields(auto& add) const {
    add("written", written);
    add("lost", lost);
  }
};

struct LogLinesDropped {
  static constexpr std::string_view name = "LogLinesDropped";
  static constexpr Level level = Level::warning;
  std::int64_t count = 0;

  void fields(auto& add) const { add("count", count); }
};

}  // namespace dutiful::event
