// All events, as values. Inside dutiful an event is typed; publish() turns it into names and texts.
#pragma once

#include <functional>
#include <variant>

#include <dutiful/events.h>

#include "events/daemon_events.h"
#include "events/scheduler_events.h"

namespace dutiful {

namespace event {

using Any = std::variant<SchedulerInitializationStarted,
                         SchedulerInitializationCompleted,
                         SchedulerInitializationFailed,
                         SchedulerReinitializationStarted,
                         SchedulerReinitializationCompleted,
                         SchedulerStopRequested,
                         SchedulerStopped,
                         PollingStarted,
                         PollingStopRequested,
                         PollingStopped,
                         PollStarted,
                         PollCompleted,
                         TaskAdded,
                         TaskPreserved,
                         TaskOverridden,
                         TaskRemoved,
                         TaskOrphaned,
                         TaskNeverDue,
                         TaskScheduled,
                         TaskSkipped,
                         ClockCorrected,
                         ClockOutOfRange,
                         TaskRunStarted,
                         TaskRetryStarted,
                         TaskRetryPreempted,
                         TaskRunCompleted,
                         TaskRunFailed,
                         DueSkipped,
                         SchedulingDelayed,
                         AccessRefused,
                         StoreFailed,
                         TraceFailed,
                         TraceSetAside,
                         TheoryViolated,
                         ResourcesExhausted,
                         TaskFileLoaded,
                         TaskFileRejected,
                         TaskFileWarning,
                         TaskChanged,
                         LeftoversEnded,
                         CommandsEnding,
                         TaskOutput,
                         StoreCommitted,
                         NotificationFailed,
                         NotificationsDropped,
                         FailureCountsFailed,
                         HistoryFailed,
                         HistoryRecovered,
                         Listening,
                         LogLinesDropped>;

}  // namespace event

struct TypedEvent {
  Instant at;
  event::Any what;
};

[[nodiscard]] Level level_of(const TypedEvent& event);

// The event in its public form. An instant outside the years 1 to 9999 becomes the nearest one
// inside.
[[nodiscard]] Event publish(const TypedEvent& event);

}  // namespace dutiful
