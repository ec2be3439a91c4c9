#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "page/world/past.h"
#include "page/world/worlds.h"

namespace dutiful::page_world {
namespace {

using namespace std::chrono_literals;

// Writes a program that the daemon really runs, if a test lets it get that far.
void write_program(const std::string& directory, const std::string& name, const std::string& body) {
  const std::string path = directory + "/bin/" + name;
  std::ofstream out{path};
  out << "#!/bin/sh\n" << body << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
  out.close();
  std::filesystem::permissions(path, std::filesystem::perms{0755});
}

Outcome good(Duration duration, std::string output = "") {
  return {.duration = duration, .output = std::move(output)};
}

Outcome check_website(const RunInfo& run) {
  return good(between(run, 120ms, 480ms), "200 OK\n");
}

Outcome process_orders(const RunInfo& run) {
  const auto orders = scramble(run) % 40;
  return good(between(run, 2s, 14s), std::to_string(orders) + " orders processed, 0 rejected\n");
}

Outcome sync_stock(const RunInfo& run) {
  if (run.started < at("2026-06-17T08:40:00+02:00")) {
    return good(between(run, 8s, 21s), "fetched 1,284 articles\nupdated 37 rows\n");
  }
  return {.duration = between(run, 3s, 4s),
          .exit_status = 1,
          .output =
              "fetching https://stock.example.com/v2/articles\n"
              "attempt 1: connection refused\nattempt 2: connection refused\n"
              "stock.example.com: connection refused\n"};
}

Outcome import_feed(const RunInfo& run) {
  // It is in progress when the daemon crashes.
  if (run.pulse == at("2026-06-17T10:10:00+02:00")) return good(20min);
  if (scramble(run) % 5 == 0 && run.attempt < 3) {
    return {.duration = between(run, 60s, 61s),
            .exit_status = 28,
            .output = "GET /feed.xml\ncurl: (28) Operation timed out after 60000 milliseconds\n"};
  }
  return good(between(run, 20s, 95s), "GET /feed.xml\n812 articles, 14 new, 3 withdrawn\n");
}

Outcome resize_images(const RunInfo& run) {
  return good(between(run, 280s, 340s), "resized 56 images\n");
}

Outcome rebuild_index(const RunInfo& run) {
  return good(between(run, 22min, 31min), "indexed 48,210 documents\nswapped the index\n");
}

Outcome backup(const RunInfo& run) {
  return good(between(run, 38min, 46min),
              "dumping shop: customers, orders, articles, sessions\n"
              "wrote /srv/backup/shop.dump (4.2 GiB)\n");
}

Outcome recommendations(const RunInfo& run) {
  if (run.pulse == at("2026-06-16T18:00:00+02:00") && run.attempt == 1) {
    return {.duration = 60min,
            .output = "training on 1,204,118 orders\nepoch 1\nepoch 2\nepoch 3\n",
            .signal = SIGTERM,
            .past_time_limit = true};
  }
  return good(between(run, 24min, 41min), "training on 1,204,118 orders\nepoch 5: loss 0.213\n");
}

std::vector<PastTask> shop_tasks() {
  const auto runs = [](const std::string& program, const std::string& more = "") {
    return "run = \"bin/" + program + "\"\n" + more;
  };
  const auto takes = [](Duration least, Duration greatest, const std::string& output) {
    return [=](const RunInfo& run) { return good(between(run, least, greatest), output); };
  };
  const char* const every_five = "0,5,10,15,20,25,30,35,40,45,50,55 * * * *";
  return {
      {"back up database",
       "15 2 * * *",
       runs("backup --format custom shop",
            "timeout = \"2h\"\nenvironment = { PGHOST = \"db\", PGUSER = \"backup\" }\n"
            "on_failure = \"bin/page-on-call\"\non_recovery = \"bin/page-on-call\""),
       10min,
       backup},
      {"check website", "* * * * *", runs("check-website --quiet"), 0ms, check_website},
      {"clean up uploads",
       "20 3 * * *",
       "run = [\"/usr/bin/find\", \"uploads\", \"-mtime\", \"+14\", \"-delete\"]",
       1h,
       takes(40s, 70s, "")},
      {"compute recommendations",
       "0 0,6,12,18 * * *",
       runs("recommend --epochs 5", "timeout = \"1h\""),
       15min,
       recommendations},
      {"fetch exchange rates",
       "5 16 * * 1-5",
       runs("exchange-rates"),
       10min,
       takes(700ms, 1900ms, "EUR/USD 1.0841\nEUR/GBP 0.8427\n")},
      {"import supplier feed",
       "10,40 * * * *",
       runs("import-feed --supplier all", "timeout = \"25m\""),
       7min,
       import_feed},
      {"mail invoices",
       "0 9 * * *",
       runs("mail-invoices", "directory = \".\""),
       15min,
       takes(9min, 14min, "214 invoices sent\n")},
      {"monthly report", "30 6 1 * *", runs("report --month last"), 30min, takes(1min, 2min, "")},
      {"process orders", every_five, runs("process-orders --until-empty"), 30s, process_orders},
      {"prune sessions",
       "30 * * * *",
       runs("prune-sessions"),
       5min,
       takes(1200ms, 4s, "removed 418 sessions\n")},
      {"rebuild search index",
       "0 4,10,16,22 * * *",
       runs("rebuild-index --swap"),
       20min,
       rebuild_index},
      {"renew certificates",
       "41 2,14 * * *",
       runs("renew-certificates"),
       1h,
       takes(3s, 6s, "shop.example.com: valid for 61 days, nothing to do\n")},
      {"resize images", "0,10,20,30,40,50 * * * *", runs("resize-images"), 5min, resize_images},
      {"rotate logs", "5 0 * * *", runs("rotate-logs"), 5min, takes(2s, 4s, "")},
      {"sync stock",
       "0,30 * * * *",
       runs("sync-stock", "timeout = \"2m\"\non_failure = \"bin/page-on-call\"\nnotify_after = 3"),
       5min,
       sync_stock},
      {"verify backup",
       "30 4 * * *",
       runs("verify-backup /srv/backup/shop.dump"),
       30min,
       takes(11min, 16min, "restored 48 tables, 0 differences\n")},
  };
}

}  // namespace

Instant make_shop(const std::string& directory) {
  std::filesystem::create_directory(directory + "/bin");
  const auto program = [&](const std::string& name, const std::string& body) {
    write_program(directory, name, body);
  };
  program("backup", "echo 'dumping shop'; exec sleep 2400");
  program("check-website", "echo '200 OK'");
  program("exchange-rates", "echo 'EUR/USD 1.0841'");
  program("import-feed", "echo 'GET /feed.xml'; exec sleep 1200");
  program("mail-invoices", "exec sleep 600");
  program("page-on-call", "exec cat >/dev/null");
  program("process-orders", "echo '7 orders processed, 0 rejected'");
  program("prune-sessions", "echo 'removed 418 sessions'");
  program("rebuild-index", "exec sleep 1500");
  program("recommend", "exec sleep 1800");
  program("renew-certificates", "true");
  program("report", "true");
  program("resize-images", "exec sleep 300");
  program("rotate-logs", "true");
  program("sync-stock", "echo 'stock.example.com: connection refused'; exit 1");
  program("verify-backup", "exec sleep 800");

  const Past past{directory, Zone::load("Europe/Berlin"), shop_tasks()};
  // The backup is interrupted.
  past.live(at("2026-06-14T10:00:30+02:00"), at("2026-06-16T02:31:12+02:00"), EndOfLife::crash);
  // Two hours of downtime.
  past.live(at("2026-06-16T02:31:40+02:00"), at("2026-06-16T21:58:45+02:00"), EndOfLife::stop);
  past.live(at("2026-06-17T00:12:20+02:00"), at("2026-06-17T10:14:20+02:00"), EndOfLife::crash);
  return at("2026-06-17T10:14:30+02:00");
}

}  // namespace dutiful::page_world
