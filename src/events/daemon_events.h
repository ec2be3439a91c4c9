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

// By the scheduler, but only to the daemon: a user's sink would receive it for every step.
struct StoreCommitted {
  static constexpr std::string_view name = "StoreCommitted";
  static constexpr Level level = Level::debug;
  std::int64_t tasks = 0;  // whose records it has written
  Duration duration{};

  void fields(auto& add) const {
    add("tasks", tasks);
    add("duration", duration);
  }
};

// A command of on_failure, on_recovery or on_success.
struct NotificationFailed {
  static constexpr std::string_view name = "NotificationFailed";
  static constexpr Level level = Level::warning;
  std::string task;
  std::string notification;  // its key in the task file
  std::string error;

  void fields(auto& add) const {
    add("taskName", task);
    add("notification", notification);
    add("error", error);
  }
};

struct NotificationsDropped {
  static constexpr std::string_view name = "NotificationsDropped";
  static constexpr Level level = Level::warning;
  std::int64_t count = 0;  // since the last report

  void fields(auto& add) const { add("count", count); }
};

// The file of the failures in a row.
struct FailureCountsFailed {
  static constexpr std::string_view name = "FailureCountsFailed";
  static constexpr Level level = Level::warning;
  std::string error;
  std::optional<Instant> next_try{};

  void fields(auto& add) const {
    add("error", error);
    add("nextTryAt", next_try);
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

// The daemon serves HTTP.
struct Listening {
  static constexpr std::string_view name = "Listening";
  static constexpr Level level = Level::info;
  std::string address;

  void fields(auto& add) const { add("address", address); }
};

struct LogLinesDropped {
  static constexpr std::string_view name = "LogLinesDropped";
  static constexpr Level level = Level::warning;
  std::int64_t count = 0;

  void fields(auto& add) const { add("count", count); }
};

}  // namespace dutiful::event
