// What becomes of the records of tasks when runs end and lists change.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/policies.h>

#include "cluster/database.h"

namespace dutiful::cluster {

[[nodiscard]] bool is_member(MemberId id, std::span<const MemberRow> members);

struct RunEnd {
  RunResult result{};
  std::optional<Instant> posted{};
};

// How the recorded run has ended, if it has. Mail comes first: a member that died after it posted
// the end of a run has not interrupted that run (N4).
//
// The members and the mail must have been read together, and not before the record: a member that
// is gone posts nothing more.
[[nodiscard]] std::optional<RunEnd> end_of(const RunKey& run,
                                           MemberId runner,
                                           std::span<const MemberRow> members,
                                           std::span<const Mail> mail);

// The records once another list counts (RULES P2, N8). Runs of members go on. A task that is
// removed while it runs keeps its record, and waits for that run if it is added again.
[[nodiscard]] std::vector<Record> replace_list(std::vector<TaskConfig> list,
                                               std::vector<Record> records,
                                               std::span<const MemberRow> members,
                                               std::span<const Mail> mail,
                                               Instant now,
                                               const Calendar& calendar,
                                               Override override);

}  // namespace dutiful::cluster
