// What a transaction sees of the cluster.
#pragma once

#include <optional>

#include "cluster/database.h"
#include "postgres/round.h"

namespace dutiful::postgres {

// The database's clock in milliseconds, or the parameter with this number if it is not null.
[[nodiscard]] std::string clock_sql(int parameter);

// Reads the view of a member. One statement, so all of it is from one instant. Two views of a
// member are ordered by its renewals (Member::look), so whoever asks holds a lock on its row that
// a renewal waits for.
//
// With `Leaving::yes`, it also removes the row of the member, unless runs are recorded under its
// name.
enum class Leaving { no, yes };
[[nodiscard]] Command select_view(cluster::MemberId member,
                                  std::optional<Instant> clock,
                                  Leaving leaving = Leaving::no);
[[nodiscard]] cluster::View read_view(const Result& result, cluster::MemberId member);

}  // namespace dutiful::postgres
