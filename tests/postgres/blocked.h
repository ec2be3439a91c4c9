// A member whose transaction waits for another one.
#pragma once

#include <string>

#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {

// Waits until a transaction on the database waits for a lock.
inline void await_blocked(MemberInTest& member, const std::string& database) {
  PlainClient watcher{PostgresServer::instance().address(database)};
  while (watcher.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                       " AND datname = current_database()") == "0") {
    member.advance();
  }
}

}  // namespace dutiful
