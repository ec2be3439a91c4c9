// The requests of a member as transactions.
//
// They are safe under READ COMMITTED because each takes its locks first, in one order: rows of
// members by id, the list, rows of shards by id. Whatever follows is decided by what the locks
// protect. A row of a member is locked
//   - FOR UPDATE by whoever may remove it,
//   - FOR KEY SHARE by whoever relies on it: the member is not declared dead meanwhile, but may
//     renew,
//   - FOR SHARE by whoever is about to read a view for it, so that views and renewals have an
//   order.
#pragma once

#include <optional>

#include <dutiful/calendar.h>
#include <dutiful/policies.h>

#include "postgres/round.h"

namespace dutiful::postgres {

struct Context {
  std::size_t shards = 0;
  std::optional<Instant> clock{};  // stands for the database's
  const Calendar* calendar = nullptr;
  Override override{};
  std::int64_t fold_after = 0;  // entries in the journal of a shard
  Duration history{};           // for which the journal is kept
};

[[nodiscard]] Round make_round(const cluster::Join& join, const Context& context);
[[nodiscard]] Round make_round(const cluster::Renew& renew, const Context& context);
[[nodiscard]] Round make_round(const cluster::Declare& declare, const Context& context);
[[nodiscard]] Round make_round(const cluster::Take& take, const Context& context);
[[nodiscard]] Round make_round(const cluster::Release& release, const Context& context);
[[nodiscard]] Round make_round(const cluster::Commit& commit, const Context& context);
[[nodiscard]] Round make_round(const cluster::Post& post, const Context& context);
[[nodiscard]] Round make_round(const cluster::Apply& apply, const Context& context);
[[nodiscard]] Round make_round(const cluster::Leave& leave, const Context& context);

// Locks that several requests take.
[[nodiscard]] Command rely_on(cluster::MemberId member);
[[nodiscard]] Command order_view_of(cluster::MemberId member);
[[nodiscard]] Command lock_shards(const Array& ids);

inline constexpr const char* notify = "pg_notify('dutiful', '')";

}  // namespace dutiful::postgres
