// dutiful run --listen: what it serves.

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <sys/stat.h>

#include "commands/web_in_test.h"
#include "daemon/openapi_in_test.h"

namespace dutiful {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// An answer of the live daemon is as the document describes it.
void expect_described(const OpenApi& openapi, const std::string& path, const Answer& answer) {
  EXPECT_THAT(
      openapi.complaints(
          path, static_cast<unsigned>(answer.status), answer.header("Content-Type"), answer.body),
      IsEmpty())
      << path << ": " << answer.body;
}

// The errors that a request for any address may get.
void expect_errors_described(const OpenApi& openapi,
                             const std::string& path,
                             const WebClient& web,
                             const std::string& target) {
  const std::string line = "GET " + target + " HTTP/1.1\r\n";
  const bool any_host = web.address().family == http::ListenAddress::Family::unix_socket;
  const std::vector<std::pair<int, Answer>> answers{
      {400, web.get(target + "?unknown=1")},
      {400, web.ask(line)},
      {413, web.get(target, "Content-Length: 1\r\n")},
      {414, web.get(target + '?' + std::string(9'000, 'x'))},
      {431, web.get(target, "X: " + std::string(17'000, 'x') + "\r\n")},
      {any_host ? 200 : 421, web.ask(line + "Host: evil.example\r\n")}};
  for (const auto& [status, answer] : answers) {
    EXPECT_EQ(answer.status, status) << target;
    expect_described(openapi, path, answer);
  }
}

TEST_F(DutifulWeb, answers_as_described_on_every_kind_of_address) {
  const std::string socket = directory.file("web.sock");
  write(task("good", "echo fine") + task("bad", "echo oops; exit 3") + idle_task("idle"));
  Process daemon{listening({"--listen", "[::1]:0", "--listen", "unix:" + socket})};
  const std::vector<WebClient> webs{web_of(daemon), web_of(daemon), web_of(daemon)};
  EXPECT_EQ(webs[2].address().host, socket);
  EXPECT_EQ(std::filesystem::status(socket).permissions(), std::filesystem::perms{0660});
  daemon.await("TaskFileLoaded");
  const auto runs = runs_once_there_are(webs[0], 2);

  const OpenApi openapi;
  for (const WebClient& web : webs) {
    SCOPED_TRACE(web.address().to_string());
    for (const auto& [path, description] : openapi.document().at("paths").items()) {
      if (path == "/api/v1/events") continue;  // does not end
      std::string target = path;
      for (const auto& [part, value] :
           std::map<std::string, std::string>{{"{name}", "bad"}, {"{id}", runs[0]["id"].dump()}}) {
        if (const auto at = target.find(part); at != std::string::npos) {
          target.replace(at, part.size(), value);
        }
      }
      const Answer answer = web.get(target);
      EXPECT_EQ(answer.status, 200) << path;
      expect_described(openapi, path, answer);

      const Answer head = web.ask("HEAD " + target + " HTTP/1.1\r\nHost: localhost\r\n");
      EXPECT_EQ(head.status, 200) << path;
      EXPECT_EQ(head.header("Content-Type"), answer.header("Content-Type"));
      EXPECT_EQ(head.body, "");
      expect_errors_described(openapi, path, web, target);
    }
    expect_described(openapi, "/api/v1/account", web.get("/api/v1/account?task=good&days=true"));
    expect_described(openapi, "/api/v1/account", web.get("/api/v1/account?limit=1"));
    EXPECT_EQ(web.get("/").status, 200);
  }
  // The parameters with which it is not found or not understood.
  for (const auto& [target, path] :
       std::map<std::string, std::string>{{"/api/v1/tasks/x", "/api/v1/tasks/{name}"},
                                          {"/api/v1/tasks/good?x=1", "/api/v1/tasks/{name}"},
                                          {"/api/v1/runs/999999", "/api/v1/runs/{id}"},
                                          {"/api/v1/runs/x", "/api/v1/runs/{id}"},
                                          {"/api/v1/runs?limit=0", "/api/v1/runs"},
                                          {"/api/v1/account?task=x", "/api/v1/account"},
                                          {"/api/v1/runs?task=x", "/api/v1/runs"},
                                          {"/api/v1/events?x=1", "/api/v1/events"},
                                          {"/metrics?x=1", "/metrics"}}) {
    const Answer answer = webs[0].get(target);
    EXPECT_THAT(answer.status, testing::AnyOf(400, 404)) << target;
    expect_described(openapi, path, answer);
  }
  const json bad = webs[0].get_json("/api/v1/tasks/bad");
  EXPECT_EQ(bad["failing"], true);
  EXPECT_EQ(bad["lastRun"]["exitStatus"], 3);
  EXPECT_EQ(bad["lastRun"]["output"], "oops\n");
  EXPECT_EQ(webs[0].get_json("/api/v1/tasks")["tasks"].size(), 3);

  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST_F(DutifulWeb, finds_tasks_by_any_name) {
  // As TOML spells them, and as they are.
  const std::vector<std::pair<std::string, std::string>> names{
      {"a/b", "a/b"},
      {"a b", "a b"},
      {"100%", "100%"},
      {"%2F", "%2F"},
      {"quo\\\"te's", "quo\"te's"},
      {"back\\\\slash", "back\\slash"},
      {"?&=#+;", "?&=#+;"},
      {"größe 日本 😀", "größe 日本 😀"},
      {"line\\nbreak", "line\nbreak"},
      {"\\u0001\\u001b[2J\\u007f", "\x01\x1b[2J\x7f"},
      {"..", ".."},
      {"<script>", "<script>"},
      {"{\\\"id\\\":null}", "{\"id\":null}"}};
  std::string text;
  for (const auto& [spelled, name] : names) text += task(spelled, "echo here");
  write(text);
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  runs_once_there_are(web, names.size());

  const OpenApi openapi;
  std::vector<std::string> listed;
  const json all = web.get_json("/api/v1/tasks");
  for (const json& one : all["tasks"]) listed.push_back(one["taskName"]);
  std::vector<std::string> expected;
  for (const auto& [spelled, name] : names) expected.push_back(name);
  std::ranges::sort(expected);
  EXPECT_THAT(listed, ElementsAreArray(expected));
  for (const std::string& name : expected) {
    SCOPED_TRACE(name);
    const std::string encoded = percent_encoded(name);
    const Answer found = web.get("/api/v1/tasks/" + encoded);
    if (name == "..") {  // is no segment of a path, however it is written
      EXPECT_EQ(found.status, 400);
    } else {
      ASSERT_EQ(found.status, 200) << found.body;
      expect_described(openapi, "/api/v1/tasks/{name}", found);
      EXPECT_EQ(found.json()["taskName"], name);
      EXPECT_EQ(found.json()["lastRun"]["output"], "here\n");
    }
    const json runs = web.get_json("/api/v1/runs?task=" + encoded)["runs"];
    ASSERT_FALSE(runs.empty());
    for (const json& run : runs) EXPECT_EQ(run["taskName"], name);
    EXPECT_EQ(web.get_json("/api/v1/account?task=" + encoded)["accounts"][0]["taskName"], name);
  }
  // An account at a time, through the names.
  std::vector<std::string> accounted;
  std::string cursor;
  while (accounted.size() <= names.size()) {
    const json page = web.get_json("/api/v1/account?limit=1&cursor=" + percent_encoded(cursor));
    accounted.push_back(page["accounts"].at(0)["taskName"]);
    if (page["next"].is_null()) break;
    cursor = page["next"];
  }
  EXPECT_THAT(accounted, ElementsAreArray(expected));
}

TEST_F(DutifulWeb, refuses_what_it_does_not_serve) {
  write(idle_task("a"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X"}) {
    const Answer answer =
        web.ask(std::string{method} + " /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\n");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.header("Allow"), "GET, HEAD");
  }
  for (const char* target : {"/x",
                             "/api",
                             "/api/v1/",
                             "/api/v2/tasks",
                             "/api/v1/tasks/",
                             "/api/v1/tasks/a/b",
                             "/metrics/",
                             "//metrics",
                             "/API/v1/tasks",
                             "/api/v1/tasks/b"}) {
    EXPECT_EQ(web.get(target).status, 404) << target;
  }
  for (const char* target : {"/api/v1/tasks/%",
                             "/api/v1/tasks/%zz",
                             "/api/v1/tasks/%00",
                             "/api/v1/tasks/%ff",
                             "/api/../api/v1/tasks",
                             "/api/%2e%2e/x",
                             "*",
                             "http://localhost/metrics",
                             "/api/v1/runs?limit=1001",
                             "/api/v1/runs?limit=-1",
                             "/api/v1/runs?cursor=0",
                             "/api/v1/runs?since=yesterday",
                             "/api/v1/runs?result=good",
                             "/api/v1/runs?task=a&task=b",
                             "/api/v1/runs?offset=1",
                             "/api/v1/account?days=true",
                             "/healthz?x"}) {
    const Answer answer = web.get(target);
    EXPECT_EQ(answer.status, 400) << target << answer.body;
    EXPECT_THAT(answer.json()["error"].get<std::string>(), Not(IsEmpty()));
  }
  EXPECT_EQ(web.get("/" + std::string(9'000, 'x')).status, 414);
  EXPECT_EQ(web.get("/", "X: " + std::string(17'000, 'x') + "\r\n").status, 431);
  EXPECT_EQ(web.ask("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n").status, 413);
  // Browsers are told to keep nothing, and to trust nobody.
  const Answer answer = web.get("/api/v1/tasks");
  EXPECT_EQ(answer.header("Cache-Control"), "no-store");
  EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "");
}

TEST_F(DutifulWeb, shows_the_tasks_of_the_newest_list) {
  write(idle_task("a") + idle_task("b"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskFileLoaded");
  EXPECT_EQ(web.get("/api/v1/tasks/a").status, 200);
  EXPECT_EQ(web.get("/api/v1/tasks/c").status, 404);
  EXPECT_THAT(web.get("/metrics").body, HasSubstr("dutiful_tasks{state=\"awaiting_run\"} 2\n"));
  write(idle_task("b") + idle_task("c") + idle_task("d"));
  daemon.signal(SIGHUP);
  daemon.await("TaskFileLoaded");
  EXPECT_EQ(web.get("/api/v1/tasks/a").status, 404);
  EXPECT_EQ(web.get("/api/v1/tasks/c").status, 200);
  EXPECT_EQ(web.get_json("/api/v1/tasks")["tasks"].size(), 3);
  EXPECT_EQ(web.get("/api/v1/account?task=a").status, 404);
  EXPECT_THAT(web.get("/metrics").body, HasSubstr("dutiful_tasks{state=\"awaiting_run\"} 3\n"));
}

TEST_F(DutifulWeb, counts_runs_failures_and_retries) {
  const std::string count = directory.file("count");
  write(impatient_task("flaky", "echo x >> " + count + "; test $(wc -l < " + count + ") -ge 3") +
        idle_task("idle"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunCompleted", "flaky");
  const std::string page = web.get("/metrics").body;
  EXPECT_THAT(
      page,
      AllOf(HasSubstr(
                "dutiful_task_runs_total{task=\"flaky\",result=\"failure\",reason=\"boot\"} 1\n"),
            HasSubstr(
                "dutiful_task_runs_total{task=\"flaky\",result=\"success\",reason=\"retry\"} 1\n"),
            HasSubstr("dutiful_task_retries_total{task=\"flaky\"} 2\n"),
            HasSubstr("dutiful_events_total{event=\"TaskRunFailed\",level=\"warning\"} 2\n"),
            HasSubstr("dutiful_build_info{version=\"")));
}

// A script that fails until it has run that often.
std::string fails_until(const std::string& count, int runs) {
  return "echo x >> " + count + "; test $(wc -l < " + count + ") -ge " + std::to_string(runs);
}

TEST_F(DutifulWeb, lists_all_runs_by_page_also_after_a_restart) {
  write(impatient_task("a", fails_until(directory.file("a"), 25)) + task("b", "true"));
  {
    Process daemon{listening()};
    const WebClient web = web_of(daemon);
    daemon.await("TaskRunCompleted", "a");
    runs_once_there_are(web, 26);
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.end().status, 0);
  }
  write(idle_task("a") + idle_task("b"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  const auto all = web.get_json("/api/v1/runs?limit=1000")["runs"];
  ASSERT_GE(all.size(), 26);
  const OpenApi openapi;
  const auto pages = [&](const std::string& filter) {
    std::vector<std::int64_t> ids;
    std::string cursor;
    while (ids.size() <= all.size()) {
      const Answer answer =
          web.get("/api/v1/runs?limit=7" + filter + (cursor.empty() ? "" : "&cursor=" + cursor));
      expect_described(openapi, "/api/v1/runs", answer);
      const json page = answer.json();
      for (const json& run : page["runs"]) ids.push_back(run["id"]);
      if (page["next"].is_null()) break;
      cursor = page["next"];
    }
    return ids;
  };
  const auto those = [&](auto wanted) {
    std::vector<std::int64_t> ids;
    for (const json& run : all) {
      if (wanted(run)) ids.push_back(run["id"]);
    }
    return ids;
  };
  const auto is_of_a = [](const json& run) { return run["taskName"] == "a"; };
  EXPECT_EQ(pages(""), those([](const json&) { return true; }));
  EXPECT_EQ(pages("&task=a"), those(is_of_a));
  EXPECT_EQ(pages("&task=a&result=failed"),
            those([&](const json& run) { return is_of_a(run) && run["success"] == false; }));
  EXPECT_EQ(pages("&result=succeeded"),
            those([](const json& run) { return run["success"] == true; }));
  EXPECT_EQ(pages("&since=24h"), those([](const json&) { return true; }));
  EXPECT_THAT(pages("&since=9999-01-01T00:00:00Z"), IsEmpty());
  EXPECT_THAT(pages("&result=interrupted"), IsEmpty());
  const auto ids = pages("");
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_TRUE(std::ranges::is_sorted(ids, std::greater{}));
}

// K2: a first run serves the pulse of the minute in which its task came, wherever it is shown.
TEST_F(DutifulWeb, shows_as_many_owed_pulses_as_the_account) {
  const auto go = fifo("go");
  write(task("a", waits_once(go)) + task("b", "true"));
  Process daemon{listening({"--max-concurrent", "1"})};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunStarted", "a");
  json before;
  json account;
  json after;
  do {  // until no pulse comes in between
    before = web.get_json("/api/v1/tasks/b")["owed"];
    account = web.get_json("/api/v1/account?task=b")["accounts"][0];
    after = web.get_json("/api/v1/tasks/b")["owed"];
  } while (before != after);
  EXPECT_EQ(after["reason"], "boot");
  EXPECT_GE(after["pulses"], 1);
  EXPECT_EQ(after["pulses"], account["owed"]);
  go.release();
  daemon.await("TaskRunCompleted", "b");
}

TEST_F(DutifulWeb, accounts_for_every_pulse_also_after_a_crash) {
  const auto go = fifo("go");
  write(task("waits", waits_once(go)) + task("fails", "false") +
        impatient_task("retries", fails_until(directory.file("retries"), 3)));
  {
    Process daemon{listening()};
    daemon.await("TaskRunCompleted", "retries");
    daemon.signal(SIGKILL);
    EXPECT_EQ(daemon.end().status, 128 + SIGKILL);
  }
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskOrphaned", "waits");
  daemon.await("TaskRunCompleted", "waits");
  const json accounts = web.get_json("/api/v1/account")["accounts"];
  ASSERT_EQ(accounts.size(), 3);
  for (const json& account : accounts) {
    std::int64_t sum = 0;
    for (const char* part : {"run",
                             "running",
                             "down",
                             "asleep",
                             "limit",
                             "store",
                             "retry",
                             "orphan",
                             "owed",
                             "unknown"}) {
      sum += account[part].get<std::int64_t>();
    }
    EXPECT_EQ(account["pulses"], sum - account["recurred"].get<std::int64_t>()) << account;
    EXPECT_GE(account["run"], 1) << account;
  }
  EXPECT_EQ(runs_once_there_are(web, 1, "&task=waits&result=interrupted").size(), 1);
}

TEST_F(DutifulWeb, shows_the_runs_and_the_downtime_of_a_crash_in_a_timeline) {
  const auto go = fifo("go");
  write(task("waits", waits_once(go)) + task("fails", "false") + idle_task("idle"));
  {
    Process daemon{listening()};
    const WebClient web = web_of(daemon);
    daemon.await("TaskRunStarted", "waits");
    (void)runs_once_there_are(web, 1, "&task=fails");
    daemon.signal(SIGKILL);
    EXPECT_EQ(daemon.end().status, 128 + SIGKILL);
  }
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunCompleted", "waits");
  (void)runs_once_there_are(web, 2, "&task=waits");
  const json timeline = web.get_json("/api/v1/timeline");

  ASSERT_EQ(timeline["tasks"].size(), 3);
  const auto results = [&](std::size_t lane) {
    std::string text = timeline["tasks"][lane]["taskName"].get<std::string>() + ' ' +
                       timeline["tasks"][lane]["group"].get<std::string>() + ' ';
    for (const json& run : timeline["tasks"][lane]["runs"]) text += run[2].get<std::string>();
    return text;
  };
  EXPECT_EQ(results(0).substr(0, 15), "fails failing f");
  EXPECT_EQ(results(1), "idle good ");
  EXPECT_EQ(results(2), "waits good is");
  // The end of the killed daemon is that of its last run.
  ASSERT_EQ(timeline["down"].size(), 1) << timeline["down"];
  const std::string killed = timeline["down"][0]["from"];
  EXPECT_LE(timeline["knownSince"], killed);
  EXPECT_LT(killed, timeline["down"][0]["until"]);
  EXPECT_LT(timeline["down"][0]["until"], timeline["at"]);
}

// SQLite's locks belong to the process: a file that is opened and closed beside it would lose them.
TEST_F(DutifulWeb, keeps_the_locks_of_the_state_while_it_is_read) {
  write(idle_task("a"));  // nothing writes to the state
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskFileLoaded");
  struct stat status {};
  ASSERT_EQ(stat(state.c_str(), &status), 0);
  // The locks of the daemon on the state, without their numbers. Not from /proc/locks: that list is
  // read in pieces, and shows a lock twice or not at all if another process locks something
  // meanwhile.
  const auto locks = [&] {
    std::multiset<std::string> found;
    const auto descriptors = "/proc/" + std::to_string(daemon.id()) + "/fdinfo";
    for (const auto& descriptor : std::filesystem::directory_iterator{descriptors}) {
      std::ifstream info{descriptor.path()};
      for (std::string line; std::getline(info, line);) {
        if (line.find(':' + std::to_string(status.st_ino) + ' ') == std::string::npos) continue;
        found.insert(line.substr(line.find(": ")));
      }
    }
    return found;
  };
  const auto before = locks();
  EXPECT_THAT(before, Not(IsEmpty()));
  for (const char* target :
       {"/api/v1/account", "/api/v1/runs", "/api/v1/tasks/a", "/metrics", "/readyz"}) {
    EXPECT_EQ(web.get(target).status, 200);
    EXPECT_EQ(locks(), before) << target;
  }
}

}  // namespace
}  // namespace dutiful
