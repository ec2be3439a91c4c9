#include "metrics/render.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "metrics/label.h"
#include "metrics/page.h"

namespace dutiful {
namespace {

using Type = Page::Type;
using Series = TaskSeries::Copy;

constexpr std::array reasons{Reason::cron, Reason::retry, Reason::orphan, Reason::boot};
static_assert(reasons.size() == TaskCounts::reasons);

constexpr std::array states{TaskStatus::State::awaiting_run,
                            TaskStatus::State::running,
                            TaskStatus::State::awaiting_retry,
                            TaskStatus::State::interrupted};

std::string_view label_of(TaskStatus::State state) {
  switch (state) {
    case TaskStatus::State::awaiting_run:
      return "state=\"awaiting_run\"";
    case TaskStatus::State::running:
      return "state=\"running\"";
    case TaskStatus::State::awaiting_retry:
      return "state=\"awaiting_retry\"";
    case TaskStatus::State::interrupted:
      return "state=\"interrupted\"";
  }
  return {};
}

std::string_view label_of(Level level) {
  switch (level) {
    case Level::debug:
      return "level=\"debug\"";
    case Level::info:
      return "level=\"info\"";
    case Level::warning:
      return "level=\"warning\"";
    case Level::error:
      return "level=\"error\"";
  }
  return {};
}

// Requires tasks in the order of their names. Nullptr if there is none with this name.
const TaskStatus* find(const std::vector<TaskStatus>& tasks, std::string_view name) {
  const auto found = std::ranges::lower_bound(tasks, name, {}, &TaskStatus::name);
  return found != tasks.end() && found->name == name ? &*found : nullptr;
}

// What is known about all tasks together.
struct Summary {
  std::array<std::uint64_t, states.size()> by_state{};
  std::uint64_t failing = 0;
  std::uint64_t overdue = 0;
  std::optional<Instant> overdue_since{};

  explicit Summary(const std::vector<TaskStatus>& tasks) {
    for (const TaskStatus& task : tasks) {
      ++by_state[static_cast<std::size_t>(task.state)];
      if (task.is_failing()) ++failing;
      if (!task.overdue_since) continue;
      ++overdue;
      overdue_since = std::min(overdue_since.value_or(Instant::max()), *task.overdue_since);
    }
  }
};

class Renderer {
 public:
  Renderer(const Counts& counts, const MetricsInput& input)
      : counts_(counts), input_(input), status_(input.status) {
    shown_.reserve(counts.tasks.size());
    for (const Series& series : counts.tasks) {
      const TaskStatus* const task = find(status_.tasks, series.task->name);
      if (task != nullptr) shown_.emplace_back(series.task->label, task);
    }
  }

  std::string render() {
    page_.reserve(16'384 + 2'560 * counts_.tasks.size());
    tasks();
    task_counters();
    task_gauges();
    runs();
    store();
    daemon();
    process();
    return page_.take();
  }

 private:
  void tasks() {
    const Summary summary{status_.tasks};
    page_.family("dutiful_tasks", Type::gauge, "Tasks in the list, by their state.");
    for (std::size_t i = 0; i < states.size(); ++i) {
      page_.sample({label_of(states[i])}, summary.by_state[i]);
    }
    page_.family("dutiful_tasks_failing", Type::gauge, "Tasks whose last run failed.");
    page_.sample({}, summary.failing);
    page_.family("dutiful_tasks_overdue",
                 Type::gauge,
                 "Tasks that have been owed a run for more than a second and do not run.");
    page_.sample({}, summary.overdue);
    page_.family("dutiful_tasks_overdue_since_timestamp_seconds",
                 Type::gauge,
                 "Since when the longest overdue task has been owed a run. Absent if none is.");
    if (summary.overdue_since) page_.sample({}, *summary.overdue_since);
    page_.family("dutiful_tasks_without_series",
                 Type::gauge,
                 "Tasks without series of their own, because there are more than --metrics-tasks "
                 "allows. Their counters are summed under task=\"\"; their gauges are left out.");
    page_.sample({}, status_.tasks.size() - shown_.size());
  }

  // Calls visit(label, counts) for each task with series, and for the others together.
  void for_each_task(auto visit) const {
    visit(std::string_view{"task=\"\""}, counts_.others);
    for (const Series& series : counts_.tasks) {
      visit(std::string_view{series.task->label}, series.counts);
    }
  }

  void task_counters() {
    task_runs();
    task_pulses();
    page_.family("dutiful_task_retries_total", Type::counter, "Runs that started as a retry.");
    for_each_task([this](std::string_view task, const TaskCounts& counts) {
      page_.sample({task}, counts.retries);
    });
    page_.family("dutiful_task_orphans_total",
                 Type::counter,
                 "Runs that a crash interrupted and that this daemon starts again.");
    for_each_task([this](std::string_view task, const TaskCounts& counts) {
      page_.sample({task}, counts.orphans);
    });
    page_.family("dutiful_task_duration_seconds",
                 Type::summary,
                 "How long the runs of the task took, whether they succeeded or failed.");
    for_each_task([this](std::string_view task, const TaskCounts& counts) {
      page_.sample({task}, counts.duration);
    });
    page_.family(
        "dutiful_task_lateness_seconds",
        Type::summary,
        "How much later than scheduled the runs of the task started. Boot runs, which have "
        "no scheduled time, do not count.");
    for_each_task([this](std::string_view task, const TaskCounts& counts) {
      page_.sample({task}, counts.lateness);
    });
  }

  void task_runs() {
    page_.family("dutiful_task_runs_total",
                 Type::counter,
                 "Runs that have ended, by result and by the reason for which they started. A task "
                 "without series of its own, or that was removed while it ran, counts under "
                 "task=\"\".");
    std::array<std::string, reasons.size()> of_success;
    std::array<std::string, reasons.size()> of_failure;
    for (std::size_t i = 0; i < reasons.size(); ++i) {
      const std::string reason = label("reason", name_of(reasons[i]));
      of_success[i] = ",result=\"success\"," + reason;
      of_failure[i] = ",result=\"failure\"," + reason;
    }
    for_each_task([&](std::string_view task, const TaskCounts& counts) {
      for (std::size_t i = 0; i < reasons.size(); ++i) {
        page_.sample({task, of_success[i]}, counts.successes[i]);
      }
      for (std::size_t i = 0; i < reasons.size(); ++i) {
        page_.sample({task, of_failure[i]}, counts.failures[i]);
      }
    });
  }

  void task_pulses() {
    page_.family("dutiful_task_pulses_total",
                 Type::counter,
                 "Pulses that starts have served: run by a run of their own, or with a later one, "
                 "because the task was running, the daemon was down, it was asleep or late, the "
                 "concurrency limit was reached, the store failed, or a retry or an orphan started "
                 "first.");
    for_each_task([this](std::string_view task, const TaskCounts& counts) {
      PulseFates::for_each(counts.pulses, [&](std::string_view fate, std::int64_t pulses) {
        page_.sample({task, ",fate=\"", fate, "\""}, static_cast<std::uint64_t>(pulses));
      });
    });
  }

  // Shows a value of each task with series that is in the list, unless it has none.
  void task_gauge(std::string_view name, std::string_view help, auto value_of) {
    page_.family(name, Type::gauge, help);
    for (const auto& [task_label, task] : shown_) {
      if (const auto value = value_of(*task)) page_.sample({task_label}, *value);
    }
  }

  void task_gauges() {
    const auto truth = [](bool is_true) { return std::optional<std::uint64_t>{is_true ? 1 : 0}; };
    task_gauge("dutiful_task_running", "1 while the task runs, else 0.", [&](const auto& task) {
      return truth(task.state == TaskStatus::State::running);
    });
    task_gauge("dutiful_task_failing",
               "1 if the last run of the task failed, else 0.",
               [&](const auto& task) { return truth(task.is_failing()); });
    task_gauge("dutiful_task_last_success_timestamp_seconds",
               "When the last success of the task was recorded. Absent if there was none.",
               [](const auto& task) { return task.last_success; });
    task_gauge("dutiful_task_next_due_timestamp_seconds",
               "When the next pulse or the retry of the task is due. Absent if there is none.",
               [](const auto& task) { return task.next_due(); });
    task_gauge("dutiful_task_overdue_since_timestamp_seconds",
               "Since when the task has been owed a run, if that is more than a second ago and it "
               "does not run. Absent otherwise.",
               [](const auto& task) { return task.overdue_since; });
  }

  void runs() {
    page_.family(
        "dutiful_run_duration_seconds", Type::histogram, "How long runs took, of all tasks.");
    page_.sample(counts_.duration, run_bounds);
    page_.family(
        "dutiful_run_lateness_seconds",
        Type::histogram,
        "How much later than scheduled runs started, of all tasks. Boot runs, which have no "
        "scheduled time, do not count.");
    page_.sample(counts_.lateness, run_bounds);
    page_.family("dutiful_runs_in_progress", Type::gauge, "Runs in progress.");
    page_.sample({}, status_.running);
    page_.family("dutiful_runs_in_progress_limit",
                 Type::gauge,
                 "How many runs may be in progress at the same time. +Inf: there is no limit.");
    if (status_.max_concurrent == 0) {
      page_.infinite_sample({});
    } else {
      page_.sample({}, status_.max_concurrent);
    }
  }

  void store() {
    page_.family("dutiful_store_transaction_duration_seconds",
                 Type::histogram,
                 "How long the transactions that have succeeded took.");
    page_.sample(counts_.store.transactions, store_bounds);
    page_.family("dutiful_store_tasks_recorded_total",
                 Type::counter,
                 "Records of tasks that those transactions have written.");
    page_.sample({}, counts_.store.tasks_recorded);
    page_.family("dutiful_store_failures_total",
                 Type::counter,
                 "Transactions that have failed and are tried again.");
    page_.sample({}, counts_.store.failures);
    page_.family("dutiful_store_failing",
                 Type::gauge,
                 "1 if the last transaction failed, else 0. Nothing starts while it is 1.");
    page_.sample({}, status_.store_failing_since ? 1 : 0);
  }

  void daemon() {
    page_.family("dutiful_theory_violations_total",
                 Type::counter,
                 "Violations of the theory that --verify has found in the trace.");
    page_.sample({}, counts_.losses.theory_violations);
    page_.family("dutiful_history_runs_lost_total",
                 Type::counter,
                 "Runs that are missing from the history, because it could not be written.");
    page_.sample({}, counts_.losses.history_lost);
    page_.family("dutiful_notifications_failed_total",
                 Type::counter,
                 "Commands of on_failure, on_recovery and on_success that have failed.");
    page_.sample({}, counts_.losses.notifications_failed);
    page_.family("dutiful_notifications_dropped_total",
                 Type::counter,
                 "Notifications that were dropped, because too many were waiting.");
    page_.sample({}, counts_.losses.notifications_dropped);
    page_.family("dutiful_log_lines_lost_total",
                 Type::counter,
                 "Lines that are missing from the log, because nobody read it in time.");
    page_.sample({}, input_.log_lines_lost);
    page_.family("dutiful_events_total", Type::counter, "Events, by name and level.");
    events(std::make_index_sequence<std::variant_size_v<event::Any>>{});
    page_.family("dutiful_build_info", Type::gauge, "Always 1; the label is the version.");
    page_.sample({label("version", input_.version)}, 1);
  }

  template <std::size_t... place>
  void events(std::index_sequence<place...> /*all*/) {
    (events_of<std::variant_alternative_t<place, event::Any>>(place), ...);
  }
  template <typename What>
  void events_of(std::size_t place) {
    // They exist only in the log.
    if constexpr (!std::is_same_v<What, event::TaskOutput> &&
                  !std::is_same_v<What, event::LogLinesDropped>) {
      page_.sample({"event=\"", What::name, "\",", label_of(What::level)}, counts_.events[place]);
    }
  }

  // Under the names that every exporter uses.
  void process() {
    const ProcessUsage& usage = input_.process;
    const auto show = [this](std::string_view name, Type type, std::string_view help, auto value) {
      page_.family(name, type, help);
      if (value) page_.sample({}, *value);
    };
    show("process_start_time_seconds", Type::gauge, "When the daemon started.", usage.started);
    show("process_cpu_seconds_total",
         Type::counter,
         "CPU time of the daemon, without its commands.",
         usage.cpu);
    show("process_resident_memory_bytes",
         Type::gauge,
         "Resident memory of the daemon.",
         usage.resident_memory);
    show("process_virtual_memory_bytes",
         Type::gauge,
         "Virtual memory of the daemon.",
         usage.virtual_memory);
    show("process_open_fds", Type::gauge, "Open file descriptors.", usage.open_descriptors);
    show("process_max_fds", Type::gauge, "Limit on open file descriptors.", usage.descriptors_max);
    show("process_threads", Type::gauge, "Threads of the daemon.", usage.threads);
  }

  const Counts& counts_;
  const MetricsInput& input_;
  const SchedulerStatus& status_;
  // The tasks of the list that have series, with their labels.
  std::vector<std::pair<std::string_view, const TaskStatus*>> shown_;
  Page page_;
};

}  // namespace

std::string metrics_page(const Counts& counts, const MetricsInput& input) {
  return Renderer{counts, input}.render();
}

}  // namespace dutiful
