#include "daemon/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/health.h"
#include "daemon/history_error.h"
#include "daemon/openapi_in_test.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HistoryEntry run_of(std::int64_t id, const char* task) {
  HistoryEntry entry{.id = id};
  entry.result = {.run = {.task = task,
                          .reason = Reason::cron,
                          .pulse = at("2025-03-03T10:00:00Z"),
                          .attempt = 1,
                          .fence = 7,
                          .started = at("2025-03-03T10:00:00.004Z")},
                  .duration = 1500ms,
                  .output = "it \xff works\n",
                  .output_total = 12};
  entry.result.exit_status = 3;
  entry.scheduled = at("2025-03-03T10:00:00Z");
  return entry;
}

struct ApiTest : testing::Test {
  ApiTest() {
    status.at = at("2025-03-03T10:05:00Z");
    status.lifecycle = SchedulerStatus::Lifecycle::running;
    status.tasks = {{.name = "a/b c", .cron = "* * * * *"},
                    {.name = "backup",
                     .cron = "15 3 * * 1-5",
                     .state = TaskStatus::State::awaiting_retry,
                     .attempt = 2,
                     .fence = 8,
                     .reason = Reason::retry,
                     .pulse = at("2025-03-03T03:15:00Z"),
                     .last_attempt = at("2025-03-03T10:04:00Z"),
                     .last_success = at("2025-03-02T03:15:00Z"),
                     .last_failure = at("2025-03-03T10:04:10Z"),
                     .retry_at = at("2025-03-03T10:09:10Z"),
                     .first_coming = at("2025-01-01T00:00:00Z"),
                     .next_pulse = at("2025-03-04T03:15:00Z"),
                     .owed = TaskStatus::Owed{.reason = Reason::cron,
                                              .since = at("2025-03-03T10:04:00Z"),
                                              .pulses = 2,
                                              .waits_for = TaskStatus::WaitsFor::limit}}};
  }

  SchedulerStatus status;
  LoopProbe::Answer loop = LoopProbe::Answer::turns;
  StateFile state_file = StateFile::in_place;
  std::vector<RunQuery> run_queries;
  std::vector<AccountQuery> account_queries;
  std::vector<SpanQuery> span_queries;
  std::vector<RunSpan> spans;  // of the last task
  std::vector<Uptime> uptimes;
  bool history_fails = false;
  std::optional<Judgement> judgement;
  OpenApi openapi;

  Api api{{.now = [this] { return status.at; },
           .status = [this] { return status; },
           .recent =
               [] {
                 return [](std::string_view task) {
                   if (task != "backup") return RecentRuns{};
                   return RecentRuns{
                       .results = "sfsi", .duration = std::nullopt, .error = "no result"};
                 };
               },
           .daemon =
               [this] {
                 return DaemonInfo{.at = status.at,
                                   .version = "1.0",
                                   .host = "shop",
                                   .file = "tasks.toml",
                                   .state = "/srv/tasks.db",
                                   .started = at("2025-03-01T00:00:00Z"),
                                   .lifecycle = status.lifecycle,
                                   .tasks = 2,
                                   .zone = Zone::load("America/New_York"),
                                   .trace = "trace.jsonl",
                                   .judgement = judgement};
               },
           .definition = [](const std::string& name) -> std::shared_ptr<const TaskDefinition> {
             if (name != "backup") return nullptr;
             return std::make_shared<const TaskDefinition>(
                 TaskDefinition{.name = name,
                                .retry_delay = 5min,
                                .command = {.arguments = {"/bin/sh", "-c", "pg_dump"},
                                            .environment = {{"PGPASSWORD", "secret"}}},
                                .notifications = {.on_failure = {"mail"}, .after = 3},
                                .place = {.line = 7, .column = 1}});
           },
           .loop = [this] { return loop; },
           .state_file = [this] { return state_file; },
           .runs =
               [this](const RunQuery& query) {
                 if (history_fails) throw HistoryError("state.db-history", "it cannot be read");
                 run_queries.push_back(query);
                 return RunPage{.runs = {run_of(9, "backup"), run_of(8, "backup")}, .next = 8};
               },
           .run = [](std::int64_t id) -> std::optional<HistoryEntry> {
             if (id != 9) return std::nullopt;
             return run_of(9, "backup");
           },
           .accounts =
               [this](const AccountQuery& query) {
                 account_queries.push_back(query);
                 std::vector<TaskAccount> accounts;
                 if (query.task == "nobody") return accounts;
                 if (query.after == "backup") return accounts;
                 TaskAccount account{.name = "backup",
                                     .cron = "15 3 * * 1-5",
                                     .from = at("2025-03-01T00:00:00Z"),
                                     .until = at("2025-03-03T10:05:00Z"),
                                     .pulses = 3,
                                     .fates = {.run = 2, .down = 1}};
                 if (query.with_stretches) {
                   account.stretches.push_back(
                       {{.from = account.from, .fates = account.fates}, account.until});
                 }
                 accounts.push_back(account);
                 account.name = "z";
                 if (!query.task) accounts.push_back(account);
                 return accounts;
               },
           .timeline = {.open_history =
                            [this] {
                              return [this](const SpanQuery& query) {
                                if (history_fails) {
                                  throw HistoryError("state.db-history", "it cannot be read");
                                }
                                span_queries.push_back(query);
                                std::vector<std::vector<RunSpan>> found(query.tasks.size());
                                found.back() = spans;
                                return found;
                              };
                            },
                        .uptimes = [this](Instant) { return uptimes; }},
           .metrics = [](const SchedulerStatus&) { return std::string{"dutiful_up 1\n"}; },
           .calendar = Calendar{Zone::load("America/New_York")},
           .file = "tasks.toml",
           .overdue_max = 5min}};

  struct Answer {
    unsigned status;
    std::string type;
    std::string body;
  };
  Answer get(std::vector<std::string> segments, std::vector<http::Field> query = {}) const {
    http::Request request;
    request.segments = std::move(segments);
    request.query = std::move(query);
    const http::Response response = api.answer(request);
    Answer answer{response.status, response.content_type, {}};
    if (const auto* text = std::get_if<std::string>(&response.body)) answer.body = *text;
    if (const auto* source = std::get_if<std::shared_ptr<http::BodySource>>(&response.body)) {
      for (std::string piece = (*source)->next(); !piece.empty(); piece = (*source)->next()) {
        answer.body += piece;
      }
    }
    return answer;
  }
  // The document of an answer, which must be as described.
  json get_json(const std::string& described,
                std::vector<std::string> segments,
                std::vector<http::Field> query = {},
                unsigned expected = 200) const {
    const Answer answer = get(std::move(segments), std::move(query));
    EXPECT_EQ(answer.status, expected) << answer.body;
    EXPECT_THAT(openapi.complaints(described, answer.status, answer.type, answer.body), IsEmpty())
        << answer.body;
    return json::parse(answer.body, nullptr, false);
  }
};

TEST_F(ApiTest, lists_all_tasks) {
  const json answer = get_json("/api/v1/tasks", {"api", "v1", "tasks"});
  ASSERT_EQ(answer["tasks"].size(), 2);
  EXPECT_EQ(answer["lifecycle"], "running");
  const json& task = answer["tasks"][1];
  EXPECT_EQ(task["taskName"], "backup");
  EXPECT_EQ(task["english"], "At 03:15, Monday through Friday");
  EXPECT_EQ(task["state"], "AwaitingRetry");
  EXPECT_EQ(task["failing"], true);
  EXPECT_EQ(task["nextDueAt"], "2025-03-03T10:09:10.000Z");
  EXPECT_EQ(task["owed"]["waitsFor"], "limit");
  EXPECT_EQ(task["lastResult"], "interrupted");
  EXPECT_EQ(task["lastDurationMs"], nullptr);
  EXPECT_EQ(task["lastError"], "no result");
  EXPECT_EQ(task["recent"], "sfsi");
  EXPECT_EQ(answer["tasks"][0]["failing"], false);
  EXPECT_EQ(answer["tasks"][0]["lastResult"], nullptr);
}

TEST_F(ApiTest, lists_the_tasks_that_have_changed_since) {
  const auto names = [&](const std::string& since) {
    std::string text;
    const json answer = get_json("/api/v1/tasks", {"api", "v1", "tasks"}, {{"since", since}});
    for (const json& task : answer["tasks"]) {
      text += task["taskName"].get<std::string>() + ' ';
    }
    return text;
  };
  EXPECT_EQ(names("2025-03-03T10:04:10Z"), "backup ");
  // A change may be shown some moments after its time.
  EXPECT_EQ(names("2025-03-03T10:04:15Z"), "backup ");
  EXPECT_EQ(names("2025-03-03T10:04:15.001Z"), "");
  status.tasks[0].overdue_since = at("2025-03-03T09:00:00Z");
  EXPECT_EQ(names("2025-03-03T10:05:00Z"), "a/b c ");
}

TEST_F(ApiTest, shows_a_task_with_its_next_pulses_and_its_configuration) {
  const json task = get_json("/api/v1/tasks/{name}", {"api", "v1", "tasks", "backup"});
  EXPECT_EQ(task["nextPulses"].size(), 10);
  EXPECT_EQ(task["nextPulses"][0], "2025-03-04T08:15:00.000Z");
  EXPECT_EQ(task["nextPulses"][4], "2025-03-10T07:15:00.000Z");  // after the clocks were set
  EXPECT_EQ(task["configuration"]["command"][2], "pg_dump");
  EXPECT_EQ(task["configuration"]["environment"], json::array({"PGPASSWORD"}));
  EXPECT_EQ(task["configuration"]["timeLimitMs"], nullptr);
  EXPECT_EQ(task["configuration"]["onFailure"], json::array({"mail"}));
  EXPECT_EQ(task["configuration"]["line"], 7);
  EXPECT_THAT(task.dump(), testing::Not(HasSubstr("secret")));
  const json other = get_json("/api/v1/tasks/{name}", {"api", "v1", "tasks", "a/b c"});
  EXPECT_EQ(other["configuration"], nullptr);
}

TEST_F(ApiTest, shows_the_daemon_and_the_offsets_of_its_zone) {
  const json daemon = get_json("/api/v1/daemon", {"api", "v1", "daemon"});
  EXPECT_EQ(daemon["zone"], "America/New_York");
  EXPECT_EQ(daemon["offsets"][0], (json{{"from", nullptr}, {"seconds", -18000}}));
  const json spring{{"from", "2025-03-09T07:00:00.000Z"}, {"seconds", -14400}};
  EXPECT_THAT(daemon["offsets"], testing::Contains(spring));
  EXPECT_EQ(daemon["history"], true);
  EXPECT_EQ(daemon["judge"], nullptr);
}

TEST_F(ApiTest, shows_whether_the_trace_conforms) {
  judgement = {.events = 12};
  json judge = get_json("/api/v1/daemon", {"api", "v1", "daemon"})["judge"];
  EXPECT_EQ(judge["conforms"], true);
  EXPECT_EQ(judge["events"], 12);
  judgement->violations = 2;
  judgement->first = {.axiom = "S1",
                      .line = 7,
                      .violated = at("2025-03-03T10:00:00Z"),
                      .blame = "scheduler",
                      .error = "a run without an obligation"};
  judge = get_json("/api/v1/daemon", {"api", "v1", "daemon"})["judge"];
  EXPECT_EQ(judge["conforms"], false);
  EXPECT_EQ(judge["firstViolation"]["axiom"], "S1");
}

TEST_F(ApiTest, lists_no_tasks_and_many) {
  status.tasks.clear();
  EXPECT_THAT(get_json("/api/v1/tasks", {"api", "v1", "tasks"})["tasks"], IsEmpty());
  status.tasks.assign(1000, {.name = "a", .cron = "* * * * *"});
  EXPECT_EQ(get_json("/api/v1/tasks", {"api", "v1", "tasks"})["tasks"].size(), 1000);
}

TEST_F(ApiTest, shows_a_task_with_its_newest_run) {
  const json task = get_json("/api/v1/tasks/{name}", {"api", "v1", "tasks", "backup"});
  EXPECT_EQ(task["lastRun"]["exitStatus"], 3);
  EXPECT_EQ(run_queries.back().task, "backup");
  EXPECT_EQ(run_queries.back().limit, 1);
  // A name with a slash is one segment.
  EXPECT_EQ(get_json("/api/v1/tasks/{name}", {"api", "v1", "tasks", "a/b c"})["taskName"], "a/b c");
}

TEST_F(ApiTest, does_not_know_other_tasks_runs_and_addresses) {
  EXPECT_EQ(get_json("/api/v1/tasks/{name}", {"api", "v1", "tasks", "x"}, {}, 404)["error"],
            "there is no task \"x\"");
  (void)get_json("/api/v1/runs/{id}", {"api", "v1", "runs", "1"}, {}, 404);
  (void)get_json("/api/v1/account", {"api", "v1", "account"}, {{"task", "nobody"}}, 404);
  for (const auto& path :
       std::vector<std::vector<std::string>>{{"api"},
                                             {"api", "v1"},
                                             {"api", "v2", "tasks"},
                                             {"api", "v1", "tasks", "backup", "x"},
                                             {"api", "v1", "tasks", ""},
                                             {"metrics", "x"},
                                             {"healthz", ""},
                                             {"x"}}) {
    EXPECT_EQ(get(path).status, 404) << testing::PrintToString(path);
  }
}

TEST_F(ApiTest, lists_runs_by_page) {
  const json answer = get_json("/api/v1/runs",
                               {"api", "v1", "runs"},
                               {{"task", "backup"},
                                {"result", "failed"},
                                {"since", "2h"},
                                {"until", "2025-03-03T10:00:00Z"},
                                {"search", "BACK"},
                                {"limit", "2"},
                                {"cursor", "10"}});
  EXPECT_EQ(answer["next"], "8");
  EXPECT_EQ(answer["runs"].size(), 2);
  const RunQuery& query = run_queries.back();
  EXPECT_EQ(query.task, "backup");
  EXPECT_EQ(query.result, RunResult::failed);
  EXPECT_EQ(query.since, at("2025-03-03T08:05:00Z"));
  EXPECT_EQ(query.until, at("2025-03-03T10:00:00Z"));
  EXPECT_EQ(query.search, "BACK");
  EXPECT_EQ(query.limit, 2);
  EXPECT_EQ(query.before, 10);
}

// V, X4: what a command wrote cannot turn the text of a terminal around.
TEST_F(ApiTest, escapes_control_characters) {
  status.tasks[1].name = "b\xE2\x80\xAE";
  EXPECT_THAT(get({"api", "v1", "tasks"}).body, HasSubstr("b\\u202e"));
}

TEST_F(ApiTest, shows_a_run_with_its_output) {
  const json run = get_json("/api/v1/runs/{id}", {"api", "v1", "runs", "9"});
  EXPECT_EQ(run["output"], "it \xEF\xBF\xBD works\n");  // JSON is UTF-8
  EXPECT_EQ(run["latenessMs"], 4);
}

TEST_F(ApiTest, shows_accounts) {
  const json answer =
      get_json("/api/v1/account",
               {"api", "v1", "account"},
               {{"task", "backup"}, {"since", "2025-03-01T00:00:00Z"}, {"days", "true"}});
  EXPECT_EQ(answer["accounts"][0]["down"], 1);
  EXPECT_EQ(answer["accounts"][0]["days"].size(), 1);
  EXPECT_EQ(account_queries.back().since, at("2025-03-01T00:00:00Z"));
  EXPECT_FALSE(
      get_json("/api/v1/account", {"api", "v1", "account"})["accounts"][0].contains("days"));
}

TEST_F(ApiTest, shows_accounts_by_page) {
  json page = get_json("/api/v1/account", {"api", "v1", "account"}, {{"limit", "1"}});
  EXPECT_EQ(page["accounts"].size(), 1);
  EXPECT_EQ(page["next"], "backup");
  EXPECT_EQ(account_queries.back().limit, 2);
  page = get_json("/api/v1/account", {"api", "v1", "account"}, {{"cursor", "backup"}});
  EXPECT_EQ(account_queries.back().after, "backup");
  EXPECT_TRUE(page["next"].is_null());
}

TEST_F(ApiTest, shows_a_timeline) {
  uptimes = {{at("2025-03-01T00:00:00Z"), at("2025-03-03T00:00:00Z")},
             {at("2025-03-03T01:00:00Z"), status.at}};
  // They are those of the second task, because the one that fails is the first.
  spans = {{at("2025-03-03T09:00:00Z"), at("2025-03-03T09:00:01Z")},
           {at("2025-03-03T09:01:00Z"), at("2025-03-03T09:01:01Z")},
           {at("2025-03-03T09:02:00Z"), at("2025-03-03T09:02:00Z"), RunSpan::Result::interrupted}};
  const json answer = get_json("/api/v1/timeline", {"api", "v1", "timeline"}, {{"step", "60000"}});
  EXPECT_EQ(answer["at"], "2025-03-03T10:05:00.000Z");
  EXPECT_EQ(answer["from"], "2025-03-02T10:05:00.000Z");
  EXPECT_EQ(answer["until"], "2025-03-04T10:05:00.000Z");
  EXPECT_EQ(answer["changes"], json::array());
  EXPECT_EQ(
      answer["down"],
      json::parse(R"([{"from":"2025-03-03T00:00:00.000Z","until":"2025-03-03T01:00:00.000Z"}])"));
  EXPECT_EQ(answer["knownSince"], "2025-03-01T00:00:00.000Z");
  EXPECT_EQ(answer["total"], 2);
  ASSERT_EQ(answer["tasks"].size(), 2);
  EXPECT_EQ(answer["tasks"][0]["taskName"], "backup");
  EXPECT_EQ(answer["tasks"][0]["group"], "failing");
  EXPECT_EQ(answer["tasks"][0]["runs"], json::array());
  // 03:15 in New York.
  EXPECT_EQ(answer["tasks"][0]["pulses"], json::parse("[[1741076100000,1741076100000,1]]"));
  EXPECT_EQ(answer["tasks"][1]["taskName"], "a/b c");
  EXPECT_EQ(answer["tasks"][1]["group"], "good");
  EXPECT_EQ(
      answer["tasks"][1]["runs"],
      json::parse(R"([[1740992400000,1740992461000,"s",2],[1740992520000,1740992520000,"i",1]])"));
  EXPECT_EQ(answer["tasks"][1]["pulses"].size(), 24 * 60 - 1);
  EXPECT_THAT(span_queries.back().tasks, ElementsAre("backup", "a/b c"));
  EXPECT_EQ(span_queries.back().limit, 5000);
}

TEST_F(ApiTest, shows_when_the_clocks_are_set_in_a_timeline) {
  const json answer =
      get_json("/api/v1/timeline",
               {"api", "v1", "timeline"},
               {{"from", "2025-03-09T00:00:00-05:00"}, {"until", "2025-03-10T00:00:00-04:00"}});
  EXPECT_EQ(answer["changes"],
            json::parse(R"([{"at":"2025-03-09T07:00:00.000Z","before":-18000,"after":-14400}])"));
  // The minutes of 23 hours.
  EXPECT_EQ(answer["tasks"][1]["pulses"].size(), 23 * 60);
}

TEST_F(ApiTest, shows_a_timeline_of_the_tasks_that_are_wanted) {
  const auto names = [&](std::vector<http::Field> query) {
    std::string text;
    const json answer = get_json("/api/v1/timeline", {"api", "v1", "timeline"}, std::move(query));
    for (const json& task : answer["tasks"]) text += task["taskName"].get<std::string>() + ' ';
    return text + "of " + answer["total"].dump();
  };
  EXPECT_EQ(names({{"limit", "1"}}), "backup of 2");
  EXPECT_EQ(names({{"search", "B C"}}), "a/b c of 1");
  EXPECT_EQ(names({{"search", "b"}}), "backup a/b c of 2");
  EXPECT_EQ(names({{"search", "x"}}), "of 0");
  EXPECT_EQ(names({{"task", "a/b c"}}), "a/b c of 1");
  (void)get_json("/api/v1/timeline", {"api", "v1", "timeline"}, {{"task", "a"}}, 404);
}

TEST_F(ApiTest, writes_a_timeline_of_many_tasks_in_pieces) {
  status.tasks.assign(100, {.name = "a", .cron = "* * * * *"});
  const json answer = get_json("/api/v1/timeline", {"api", "v1", "timeline"});
  ASSERT_EQ(answer["tasks"].size(), 100);
  for (const json& task : answer["tasks"]) EXPECT_EQ(task["pulses"].size(), 24 * 60 - 1);
  std::size_t asked = 0;
  for (const SpanQuery& query : span_queries) asked += query.tasks.size();
  EXPECT_EQ(asked, 100);
  EXPECT_GT(span_queries.size(), 1);
}

TEST_F(ApiTest, refuses_a_window_of_a_timeline_that_is_empty_or_too_long) {
  const auto refusal = [&](std::vector<http::Field> query) {
    return get_json("/api/v1/timeline", {"api", "v1", "timeline"}, std::move(query), 400)["error"]
        .get<std::string>();
  };
  EXPECT_EQ(refusal({{"from", "2025-03-09T00:00:00Z"}, {"until", "2025-03-09T00:00:00Z"}}),
            "the parameter \"until\" is not later than \"from\"");
  EXPECT_THAT(refusal({{"from", "2026-03-09T00:00:00Z"}}), HasSubstr("not later"));
  EXPECT_EQ(refusal({{"from", "2025-01-01T00:00:00Z"}, {"until", "2025-02-10T00:00:00.001Z"}}),
            "the parameters \"from\" and \"until\" are more than 40 days apart");
  EXPECT_EQ(refusal({{"from", "2h"}}),
            "the parameter \"from\" is \"2h\", which is not a time with an offset, as "
            "2025-11-02T01:30:00Z");
  EXPECT_THAT(refusal({{"step", "86400001"}}), HasSubstr("a whole number from 0 to 86400000"));
  EXPECT_THAT(refusal({{"limit", "1001"}}), HasSubstr("a whole number from 1 to 1000"));
}

// The years 1 and 9999 have a beginning and an end.
TEST_F(ApiTest, shows_a_timeline_of_any_time) {
  for (const auto& [from, until] : {std::pair{"0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"},
                                    std::pair{"9999-12-30T00:00:00Z", "9999-12-31T23:59:59Z"}}) {
    (void)get_json(
        "/api/v1/timeline", {"api", "v1", "timeline"}, {{"from", from}, {"until", until}});
  }
}

TEST_F(ApiTest, says_that_a_timeline_cannot_be_read) {
  history_fails = true;
  (void)get_json("/api/v1/timeline", {"api", "v1", "timeline"}, {}, 503);
}

TEST_F(ApiTest, does_not_read_the_output_of_many_runs) {
  (void)get_json("/api/v1/runs", {"api", "v1", "runs"});
  EXPECT_FALSE(run_queries.back().with_output);
}

TEST_F(ApiTest, refuses_parameters_that_it_does_not_understand) {
  const auto refusal = [&](const char* what, const char* name, const char* value) {
    return get_json(
               std::string{"/api/v1/"} + what, {"api", "v1", what}, {{name, value}}, 400)["error"]
        .get<std::string>();
  };
  EXPECT_EQ(refusal("runs", "limit", "0"),
            "the parameter \"limit\" is \"0\", which is not a whole number from 1 to 1000");
  EXPECT_THAT(refusal("runs", "limit", "9999999999999999999999"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("runs", "cursor", "-1"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("runs", "cursor", "1x"), HasSubstr("whole number"));
  EXPECT_EQ(refusal("runs", "result", "good"),
            "the parameter \"result\" is \"good\", which is not succeeded, failed or interrupted");
  EXPECT_THAT(refusal("runs", "since", "2025-03-03T10:00:00"), HasSubstr("a time with an offset"));
  EXPECT_THAT(refusal("account", "days", "yes"), HasSubstr("true or false"));
  EXPECT_EQ(refusal("account", "days", "true"),
            "the parameter \"days\" needs the parameter \"task\"");
  EXPECT_EQ(refusal("runs", "tsak", "a"),
            "unknown parameter \"tsak\"; this address has: task, result, since, until, search, "
            "limit, cursor");
  EXPECT_THAT(refusal("tasks", "limit", "1"), HasSubstr("this address has: since"));
  EXPECT_THAT(refusal("daemon", "limit", "1"), HasSubstr("this address has: none"));
  EXPECT_EQ(get({"api", "v1", "runs"}, {{"limit", "1"}, {"limit", "2"}}).status, 400);
  EXPECT_EQ(get({"api", "v1", "runs", "x"}).status, 400);
  (void)get_json("/readyz", {"readyz"}, {{"x", "y"}}, 400);
  (void)get_json("/healthz", {"healthz"}, {{"x", "y"}}, 400);
  EXPECT_THAT(run_queries, IsEmpty());
}

TEST_F(ApiTest, says_that_the_history_cannot_be_read) {
  history_fails = true;
  (void)get_json("/api/v1/runs", {"api", "v1", "runs"}, {}, 503);
}

TEST_F(ApiTest, is_healthy_while_the_loop_turns) {
  EXPECT_EQ(get({"healthz"}).status, 200);
  EXPECT_EQ(get({"healthz"}).body, "ok\n");
  loop = LoopProbe::Answer::no_loop;
  EXPECT_EQ(get({"healthz"}).status, 200);
  loop = LoopProbe::Answer::hangs;
  EXPECT_EQ(get({"healthz"}).status, 503);
  EXPECT_THAT(get({"healthz"}).body, HasSubstr("does not respond"));
}

TEST_F(ApiTest, is_ready_while_it_can_do_its_work) {
  EXPECT_EQ(get({"readyz"}).status, 200);
  status.tasks[1].overdue_since = status.at - 5min;
  EXPECT_EQ(get({"readyz"}).status, 200);
  status.tasks[1].overdue_since = status.at - 5min - 1ms;
  EXPECT_EQ(get({"readyz"}).status, 503);
  EXPECT_EQ(get({"readyz"}).body,
            "1 task is overdue by more than 5m: \"backup\" since 2025-03-03T09:59:59.999Z\n");
  // With a token, only those who have it learn names.
  EXPECT_EQ(readiness(status, StateFile::in_place, 5min, false).reason,
            "1 task is overdue by more than 5m: since 2025-03-03T09:59:59.999Z");
  state_file = StateFile::removed;
  EXPECT_EQ(get({"readyz"}).status, 503);
  EXPECT_THAT(get({"readyz"}).body, HasSubstr("the file of the state was removed"));
  state_file = StateFile::replaced;
  EXPECT_THAT(get({"readyz"}).body, HasSubstr("the file of the state was replaced"));
  status.store_failing_since = status.at;
  EXPECT_THAT(get({"readyz"}).body, HasSubstr("the state cannot be written"));
  status.lifecycle = SchedulerStatus::Lifecycle::stopping;
  EXPECT_EQ(get({"readyz"}).body, "the daemon is stopping\n");
  status.lifecycle = SchedulerStatus::Lifecycle::initializing;
  EXPECT_EQ(get({"readyz"}).status, 503);
}

TEST_F(ApiTest, serves_metrics_events_and_its_description) {
  EXPECT_EQ(get({"metrics"}).body, "dutiful_up 1\n");
  EXPECT_EQ(get({"metrics"}).type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(get({"api", "v1", "events"}).status, 200);
  EXPECT_EQ(get_json("/api/v1/openapi.json", {"api", "v1", "openapi.json"}), openapi.document());
}

// Nothing is served that is not described, and the other way round.
TEST_F(ApiTest, describes_every_address) {
  for (const auto& [path, description] : openapi.document().at("paths").items()) {
    std::vector<std::string> segments;
    for (std::size_t begin = 1; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      std::string segment = path.substr(begin, end - begin);
      if (segment == "{name}") segment = "backup";
      if (segment == "{id}") segment = "9";
      segments.push_back(std::move(segment));
      begin = end + 1;
    }
    EXPECT_EQ(get(segments).status, 200) << path;
    EXPECT_EQ(description.size(), 1) << path;  // get
  }
}

}  // namespace
}  // namespace dutiful
