#include "daemon/web.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include <dutiful/version.h>

#include "core/best_effort.h"
#include "daemon/api.h"
#include "daemon/pages.h"
#include "daemon/state_watch.h"
#include "http/event_hub.h"
#include "metrics/metrics.h"
#include "store/sqlite/holder.h"
#include "sync/mutex.h"

namespace dutiful {
namespace {

// A loop that does not turn within this hangs.
constexpr std::chrono::seconds loop_patience{5};
// The same for a loop that hung when it was asked before.
constexpr std::chrono::milliseconds hanging_loop_patience{500};

event::AccessRefused event_of(const http::RefusedRequest& refused) {
  std::string reason = refused.reason;
  if (refused.unreported > 0) {
    reason += " (" + std::to_string(refused.unreported) + " more requests were refused before it)";
  }
  return {.what = refused.what, .reason = std::move(reason), .who = refused.who};
}

}  // namespace

class Web::Impl {
 public:
  Impl(WebOptions options, Surroundings around)
      : options_(std::move(options)),
        around_(std::move(around)),
        started_(around_.now()),
        state_file_(around_.state),
        recent_(around_.state),
        metrics_(options_.metrics_tasks) {}

  void add(const TypedEvent& event) noexcept {
    metrics_.add(event);
    if (level_of(event) == Level::debug) return;
    best_effort([&] {
      const Event published = publish(event);
      events_.publish(published.name, to_json(published));
    });
  }

  void on_state_taken() noexcept { state_file_.begin(); }

  void set_tasks(std::shared_ptr<const std::vector<TaskDefinition>> tasks) {
    std::set<std::string, std::less<>> names;
    for (const TaskDefinition& task : *tasks) names.insert(task.name);
    recent_.keep_only(names);
    const Lock lock{mutex_};
    tasks_ = std::move(tasks);
  }

  std::unique_ptr<http::HttpServer> serve(const Scheduler& scheduler) {
    auto api = std::make_shared<const Api>(sources_of(scheduler));
    auto pages = std::make_shared<const Pages>(page_sources_of(scheduler));
    auto server = std::make_unique<http::HttpServer>(
        http::HttpServer::Options{
            .addresses = options_.addresses,
            .token = options_.token,
            .hosts = options_.hosts,
            .events = &events_,
            .needs_no_token = &Api::is_probe,
            .on_refused =
                [this](const http::RefusedRequest& refused) { around_.report(event_of(refused)); }},
        [api = std::move(api), pages = std::move(pages)](const http::Request& request) {
          auto page = pages->answer(request);
          return page ? std::move(*page) : api->answer(request);
        });
    warm_up();
    for (const http::ListenAddress& address : server->addresses()) {
      around_.report(event::Listening{address.to_string()});
    }
    return server;
  }

 private:
  // While the loop hangs, probes must not occupy the threads of the server, which could not answer
  // anything else then.
  LoopProbe::Answer ask_loop(const Scheduler& scheduler) {
    const auto answer =
        LoopProbe{scheduler}.ask(loop_hangs_ ? hanging_loop_patience : loop_patience);
    loop_hangs_ = answer == LoopProbe::Answer::hangs;
    return answer;
  }

  // The first answer would have to wait while a long history is read.
  void warm_up() {
    best_effort([this] {
      warm_up_ = std::jthread{
          [this](const std::stop_token& stop) { best_effort([&] { recent_.refresh(stop); }); }};
    });
  }

  // If the history cannot be read, the tasks are shown with what was read before.
  RecentLookup recent() {
    try {
      recent_.refresh();
    } catch (const Error&) {
    }
    return [this](std::string_view task) { return recent_.of(task); };
  }

  std::shared_ptr<const TaskDefinition> definition(const std::string& name) {
    const auto tasks = this->tasks();
    const auto found = std::ranges::find(*tasks, name, &TaskDefinition::name);
    if (found == tasks->end()) return nullptr;
    return {tasks, &*found};
  }
  std::shared_ptr<const std::vector<TaskDefinition>> tasks() {
    const Lock lock{mutex_};
    return tasks_;
  }

  DaemonInfo info_of(const Scheduler& scheduler) {
    const SchedulerStatus status = scheduler.status();
    return {.at = status.at,
            .version = DUTIFUL_VERSION,
            .host = host_name(),
            .file = around_.file,
            .state = around_.state,
            .started = started_,
            .lifecycle = status.lifecycle,
            .tasks = status.tasks.size(),
            .zone = around_.calendar.zone(),
            .repeated_minutes = around_.calendar.repeated_minutes(),
            .keeps_history = around_.keeps_history,
            .trace = around_.trace,
            .judgement = JudgementProbe{scheduler}.ask()};
  }

  Pages::Sources page_sources_of(const Scheduler& scheduler) {
    return {.status = [&scheduler] { return scheduler.status(); },
            .recent = [this] { return recent(); },
            .has_runs = [this](const std::string& task) { return has_runs(task); },
            .zone = around_.calendar.zone()};
  }

  bool has_runs(const std::string& task) {
    try {
      return !read_runs(around_.state, {.task = task, .limit = 1, .with_output = false})
                  .runs.empty();
    } catch (const Error&) {  // the script will report it
      return true;
    }
  }

  Api::Sources sources_of(const Scheduler& scheduler) {
    return {.now = around_.now,
            .status = [&scheduler] { return scheduler.status(); },
            .recent = [this] { return recent(); },
            .daemon = [this, &scheduler] { return info_of(scheduler); },
            .definition = [this](const std::string& name) { return definition(name); },
            .loop = [this, &scheduler] { return ask_loop(scheduler); },
            .state_file = [this] { return state_file_.look(); },
            .runs = [this](const RunQuery& query) { return read_runs(around_.state, query); },
            .run = [this](std::int64_t id) { return read_run(around_.state, id); },
            .accounts =
                [this](const AccountQuery& query) {
                  return read_account(around_.state, around_.calendar, query, around_.now());
                },
            .timeline = timeline_sources(),
            .metrics =
                [this](SchedulerStatus status) {
                  return metrics_.render({.status = std::move(status),
                                          .version = DUTIFUL_VERSION,
                                          .log_lines_lost = around_.log_lines_lost(),
                                          .process = read_process_usage()});
                },
            .calendar = around_.calendar,
            .file = around_.file,
            .overdue_max = options_.overdue_max,
            .probes_name_tasks = !options_.token};
  }

  TimelineSources timeline_sources() {
    return {.open_history = [this]() -> TimelineSources::Spans {
              auto reader = std::make_shared<const HistoryReader>(around_.state);
              return [reader = std::move(reader)](const SpanQuery& query) {
                return reader->read_spans(query);
              };
            },
            .uptimes =
                [this](Instant now) {
                  return with_present(
                      HistoryReader{around_.state}.read_uptimes(), around_.up_since(), now);
                }};
  }

  const WebOptions options_;
  const Surroundings around_;
  const Instant started_;
  StateWatch state_file_;
  RecentRunsBoard recent_;
  Mutex mutex_;
  std::shared_ptr<const std::vector<TaskDefinition>> tasks_ GUARDED_BY(mutex_) =
      std::make_shared<const std::vector<TaskDefinition>>();
  Metrics metrics_;
  http::EventHub events_;
  std::atomic<bool> loop_hangs_ = false;  // as the last probe found it
  std::jthread warm_up_;
};

Web::Web(WebOptions options, Surroundings around) {
  if (options.addresses.empty()) return;
  impl_ = std::make_unique<Impl>(std::move(options), std::move(around));
}
Web::~Web() = default;

void Web::on_state_taken() noexcept {
  if (impl_) impl_->on_state_taken();
}

void Web::set_tasks(std::shared_ptr<const std::vector<TaskDefinition>> tasks) {
  if (impl_) impl_->set_tasks(std::move(tasks));
}

void Web::add(const TypedEvent& event) noexcept {
  if (impl_) impl_->add(event);
}

std::unique_ptr<http::HttpServer> Web::serve(const Scheduler& scheduler) {
  return impl_ ? impl_->serve(scheduler) : nullptr;
}

}  // namespace dutiful
