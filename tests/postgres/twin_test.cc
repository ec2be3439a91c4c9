// PostgreSQL answers as the virtual database does, in which the protocol was searched for faults.
// What holds there (N2, N4, N8) then holds here, as far as one request comes after another.

#include <gtest/gtest.h>

#include "postgres/described.h"
#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"
#include "postgres/random_requests.h"

namespace dutiful {
namespace {

using cluster::Channel;

class NoObserver final : public DatabaseObserver {
 public:
  void list_applied(cluster::MemberId, const std::vector<TaskConfig>&) override {}
  void run_started(cluster::MemberId, const cluster::RunKey&) override {}
  void run_ended(const cluster::RunKey&, cluster::RunResult) override {}
  void member_left(cluster::MemberId) override {}
  void member_declared_dead(cluster::MemberId) override {}
};

// Counts what is notified, for which it asks the server: whoever is answered has been notified
// before.
class Listener {
 public:
  explicit Listener(const std::string& address) : connection_(PQconnectdb(address.c_str())) {
    PQclear(PQexec(connection_, "LISTEN dutiful"));
  }
  ~Listener() { PQfinish(connection_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  bool take() {
    PQclear(PQexec(connection_, "SELECT 1"));
    bool any = false;
    while (PGnotify* notice = PQnotifies(connection_)) {
      PQfreemem(notice);
      any = true;
    }
    return any;
  }

 private:
  PGconn* connection_;
};

// The records as a reader of the tables would put them together: the newest entry of the journal
// that is not folded, or else the record.
std::vector<std::string> content(PlainClient& client) {
  const std::string progress =
      "runner, state, boot_pending, orphan_pending, attempt, retries, fence, recurrence, pulse, "
      "first_coming, served_until, last_attempt, last_success, last_failure, retry_at, "
      "recurs_until";
  const std::string newest = " WHERE name = t.name ORDER BY seq DESC LIMIT 1)";
  return client.rows(
      "WITH versions AS (SELECT name, 0 AS seq, account, " + progress +
      " FROM dutiful.task UNION ALL SELECT task, seq, account, " + progress +
      " FROM dutiful.journal j WHERE seq > (SELECT folded FROM dutiful.shard WHERE id = j.shard))"
      " SELECT encode(t.name, 'hex'), encode(t.cron, 'hex'), t.retry_delay_ms, t.registered,"
      " v.*, (SELECT account FROM (SELECT * FROM versions WHERE account IS NOT NULL) a" +
      newest + " FROM dutiful.task t, LATERAL (SELECT " + progress + " FROM versions" + newest +
      " v ORDER BY t.name");
}

std::string hex(const std::string& bytes) {
  const char* const digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4U];
    text += digits[static_cast<unsigned char>(byte) & 0xfU];
  }
  return text;
}

// The same of the virtual database.
std::vector<std::string> content(const VirtualDatabase& database) {
  std::vector<std::string> rows;
  for (const auto& [name, record] : database.records()) {
    std::string row = hex(name) + '|' + hex(record.config.cron);
    const auto add = [&](const std::string& value) { row += '|' + value; };
    const auto add_instant = [&](Instant at) {
      add(at == no_instant ? "" : std::to_string(at.time_since_epoch().count()));
    };
    const TaskProgress& progress = record.progress;
    add(std::to_string(record.config.retry_delay.count()));
    add(record.registered ? "t" : "f");
    add(std::to_string(static_cast<std::int64_t>(record.runner)));
    add(std::to_string(static_cast<int>(progress.state)));
    add(progress.boot_pending ? "t" : "f");
    add(progress.orphan_pending ? "t" : "f");
    add(std::to_string(progress.attempt));
    add(std::to_string(progress.retries));
    add(std::to_string(progress.fence));
    add(std::to_string(progress.recurrence));
    for (const Instant at : {progress.pulse,
                             progress.first_coming,
                             progress.served_until,
                             progress.last_attempt,
                             progress.last_success,
                             progress.last_failure,
                             progress.retry_at,
                             progress.recurs_until}) {
      add_instant(at);
    }
    add_instant(record.account.from);
    row.insert(row.rfind('|') + 1, "{");
    const auto add_number = [&](std::int64_t number) { row += ',' + std::to_string(number); };
    add_number(record.account.number);
    PulseFates::for_each(record.account.fates,
                         [&](const char*, std::int64_t pulses) { add_number(pulses); });
    add_number(record.account.recurred);
    rows.push_back(row + '}');
  }
  return rows;
}

std::vector<std::string> fences(const VirtualDatabase& database) {
  std::vector<std::string> fences;
  for (const std::uint64_t fence : database.fences()) fences.push_back(std::to_string(fence));
  return fences;
}

// Counts answers, so that the comparison does not become one of refusals alone.
struct Count {
  void operator()(const cluster::Dead&) { ++dead; }
  void operator()(const cluster::Failed&) { ++failed; }
  void operator()(const cluster::Looked& answer) {
    ++looked;
    orphaned += answer.orphaned.size();
    runs += answer.view.runs.size();
    mail += answer.view.mail.size();
  }
  void operator()(const cluster::Taken& answer) {
    taken += answer.shards.size();
    records += answer.records.size();
  }
  void operator()(const cluster::Committed& answer) {
    ++committed;
    refused += answer.refused.size();
  }
  void operator()(const cluster::Done&) { ++done; }

  std::size_t dead = 0;
  std::size_t failed = 0;
  std::size_t looked = 0;
  std::size_t orphaned = 0;
  std::size_t runs = 0;
  std::size_t mail = 0;
  std::size_t taken = 0;
  std::size_t records = 0;
  std::size_t committed = 0;
  std::size_t refused = 0;
  std::size_t done = 0;
};

class Twins : public testing::TestWithParam<unsigned> {};

TEST_P(Twins, answer_every_request_alike) {
  const unsigned seed = GetParam();
  const Override override = seed % 2 == 0 ? Override::keep_history : Override::reset_history;
  const std::string database = PostgresServer::instance().make_database();
  Instant clock;
  postgres::Options options = options_of(database);
  options.override = override;
  options.clock = [&] { return clock; };
  options.fold_after = seed % 3 == 0 ? 1 : 10;
  MemberInTest real{options};
  real.connect(Channel::work);
  VirtualDatabase twin{options.shards, options.calendar, override};
  RandomRequests requests{twin, seed};
  PlainClient reader{PostgresServer::instance().address(database)};
  Listener listener{PostgresServer::instance().address(database)};
  NoObserver observer;
  Count count;
  ASSERT_FALSE(twin.take_notification());

  for (int step = 0; step < 1000; ++step) {
    clock = requests.next_clock();
    const cluster::Request request = requests.next();
    const cluster::Answer expected = twin.execute(request, clock, observer);
    const cluster::Answer answer = real.ask(Channel::work, request);

    SCOPED_TRACE("step " + std::to_string(step) + ", request " + std::to_string(request.index()));
    ASSERT_EQ(described(answer), described(expected));
    ASSERT_EQ(listener.take(), twin.take_notification());
    ASSERT_EQ(reader.rows("SELECT fence FROM dutiful.shard ORDER BY id"), fences(twin));
    if (step % 5 == 0) {
      ASSERT_EQ(content(reader), content(twin));
    }
    std::visit(count, expected);
  }

  EXPECT_GT(count.dead, 50);
  EXPECT_GT(count.looked, 50);
  EXPECT_GT(count.orphaned, 0);
  EXPECT_GT(count.runs, 20);
  EXPECT_GT(count.mail, 5);
  EXPECT_GT(count.taken, 50);
  EXPECT_GT(count.records, 50);
  EXPECT_GT(count.committed, 200);
  EXPECT_GT(count.refused, 50);
  EXPECT_GT(count.done, 50);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Twins, testing::Range(1U, 7U));

}  // namespace
}  // namespace dutiful
