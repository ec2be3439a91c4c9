// What the members of a cluster ask of their database, and what it answers.
//
// Each request is one transaction: it happens as a whole or not at all, at an instant after it was
// sent. If the connection breaks before the answer, the request may have happened, may happen
// later, or never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "account/account.h"
#include "core/task.h"

namespace dutiful::cluster {

// A member, made anew each time it joins: an identifier that was declared dead stays dead.
enum class MemberId : std::uint64_t { none = 0 };
using ShardId = std::uint32_t;
// Grows each time a shard changes hands, and each time its holder connects anew (N4).
using Epoch = std::uint64_t;
// Grows with each list that is applied (N8).
using Generation = std::uint64_t;
// A list with a lower version than the list that counts is refused (N8). 0: none is given.
using ListVersion = std::uint64_t;

// The shard of a task. Every member and every version computes the same.
[[nodiscard]] ShardId shard_of(std::string_view task, std::size_t shards);

// Identifies a list: members with the same list share its tasks.
using ListPrint = std::uint64_t;
[[nodiscard]] ListPrint print_of(const std::vector<TaskConfig>& list,
                                 ListVersion version,
                                 std::string_view settings);

enum class RunResult : std::uint8_t {
  success,
  failure,
  interrupted,  // it has no result, and the task is started again
};

// The name of a task and the fence of one of its runs.
struct RunKey {
  std::string task;
  std::uint64_t fence = 0;

  friend bool operator==(const RunKey&, const RunKey&) = default;
  friend bool operator<(const RunKey& a, const RunKey& b) {
    return std::tie(a.task, a.fence) < std::tie(b.task, b.fence);
  }
};

struct MemberRow {
  MemberId id{};
  std::uint64_t renewals = 0;
  Duration lease{};
  bool accepts = true;  // shards

  friend bool operator==(const MemberRow&, const MemberRow&) = default;
};

struct ShardRow {
  MemberId holder{};
  Epoch epoch = 0;

  friend bool operator==(const ShardRow&, const ShardRow&) = default;
};

// The end of a run that its runner could not record itself, because another member decides for the
// task.
struct Mail {
  RunKey run;
  RunResult result{};
  Instant at{};  // when it was posted, by the database's clock, which is when the end counts from
};

struct Record {
  TaskConfig config;
  TaskProgress progress;
  MemberId runner{};       // while it runs
  bool registered = true;  // otherwise it was removed while it ran (N8)
  Account account{};
};

// What a transaction sees of the cluster, all at one instant.
struct View {
  Instant clock;  // the database's
  Generation generation = 0;
  ListPrint list = 0;
  ListVersion version = 0;           // of the list
  std::uint64_t renewals = 0;        // of the asker
  std::vector<MemberRow> members{};  // by id
  std::vector<ShardRow> shards{};    // by number
  std::vector<Mail> mail{};          // for the shards that the asker holds
  std::vector<RunKey> runs{};        // recorded as running on the asker, and not posted
};

// Makes a row for a new member.
struct Join {
  MemberId member{};
  Duration lease{};
};
// Adds one to the member's renewals, if its row is there.
struct Renew {
  MemberId member{};
  bool accepts = true;
};
// Removes the row of a member whose renewals have stood still, and frees its shards under new
// epochs, unless it has renewed. So a dead member can change nothing.
struct Declare {
  MemberId member{};
  MemberId dead{};
  std::uint64_t renewals = 0;
};
// Takes those of the shards whose epochs are still these, under new epochs.
struct Take {
  struct Shard {
    ShardId id = 0;
    Epoch epoch = 0;
  };
  MemberId member{};
  Generation generation = 0;
  std::vector<Shard> shards{};
};
// Frees shards under new epochs.
struct Release {
  MemberId member{};
  std::vector<Take::Shard> shards{};
};
// Records the progress of tasks. Starts and ends count from the instant at which they are recorded,
// by the database's clock: a start serves every pulse up to then, and a retry follows a failure by
// its delay (H5, K3, K5). A posted end counts from its post. The writes to one shard happen or are
// refused together, apart from other shards: they are refused if the shard has another epoch.
struct Commit {
  struct Task {
    RunKey run;  // the newest of the task
    TaskProgress progress;
    MemberId runner{};
    std::optional<RunResult> ended{};      // how the run ended, if this records its end
    std::optional<Instant> posted{};       // when that was posted, if it was
    bool forget = false;                   // the task was removed, and its run has ended
    std::optional<Reason> started{};       // why the run started, if this records its start
    std::optional<Account> account{};      // if that changes too
    std::vector<AccountStretch> closed{};  // stretches of the account that have ended
  };
  struct Shard {
    ShardId id = 0;
    Epoch epoch = 0;
    std::uint64_t fence = 0;  // of the newest run of any of its tasks
    std::vector<Task> tasks{};
    std::vector<RunKey> read{};  // mail to remove
  };
  MemberId member{};
  std::vector<Shard> shards{};
};
// Leaves the ends of runs to whoever decides for their tasks. The first mail about a run counts.
struct Post {
  MemberId member{};
  std::vector<Mail> mail{};
};
// Replaces the list, if the generation is still this one, and takes every shard (N8). The member
// has seen which version counts in this generation, so nobody has to compare it again.
struct Apply {
  MemberId member{};
  Generation generation = 0;
  ListPrint print = 0;
  ListVersion version = 0;
  std::vector<TaskConfig> list{};
};
// Frees the member's shards under new epochs, so that nothing of it that is on its way happens any
// more, and removes its row, unless runs are recorded under its name: then it must disown them
// first.
struct Leave {
  MemberId member{};
};

using Request = std::variant<Join, Renew, Declare, Take, Release, Commit, Post, Apply, Leave>;

// Nothing happened, because the member's row is not there.
struct Dead {};
// Nothing happened. It may help to try again.
struct Failed {};
// Answers Join, Renew, Declare, Take and Apply if the generation has changed, and Leave if runs are
// recorded under the member's name.
struct Looked {
  View view;
  std::vector<ShardId> orphaned{};  // of tasks that ran on the member that this Declare removed
};
// Answers Take and Apply.
struct Taken {
  struct Shard {
    ShardId id = 0;
    Epoch epoch = 0;
    std::uint64_t fence = 0;  // no earlier run of its tasks has a larger one (P8)
  };
  View view;
  std::vector<Shard> shards{};
  std::vector<Record> records{};
};
// Answers Commit.
struct Committed {
  Instant clock;  // the database's
  std::vector<ShardId> refused{};
};
// Answers Release, Post and Leave.
struct Done {
  Instant clock{};  // the database's; what was posted counts from here
};

using Answer = std::variant<Dead, Failed, Looked, Taken, Committed, Done>;

}  // namespace dutiful::cluster
