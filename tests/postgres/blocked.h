// A member whose transaction waits for another one.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {

// Waits until a transaction on the database waits for a lock.
inline void await_blocked(MemberInTest& member, const std::string& database) {
  PlainClient watcher{PostgresServer::instance().address(database)};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (watcher.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                       " AND datname = current_database()") == "0") {
    if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("nobody waits");
    member.advance();
  }
}

}  // namespace dutiful
