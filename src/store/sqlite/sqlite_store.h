// The state in an SQLite file: durable, and readable by other programs while a scheduler holds it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/store.h"

namespace dutiful {

// Opens the state; creates it if it does not exist. Throws StateHeldError, or StoreError if the
// file is damaged, belongs to another program, was written by a newer dutiful, or cannot be
// written.
//
// Each operation waits up to `busy_timeout` for another program that is writing, such as a backup.
[[nodiscard]] std::unique_ptr<Store> open_sqlite_store(const std::string& path,
                                                       Duration busy_timeout = std::chrono::seconds{
                                                           5});

// Reads the records of a state, even while another process holds it. Changes nothing. Throws
// StoreError if there is no such state, and the errors of RULES P7 for a damaged record.
[[nodiscard]] std::vector<TaskRecord> read_sqlite_state(const std::string& path);

// The same, but calls visit for each record, in no particular order, with the stretches of its
// account that have ended, oldest first. All are of one moment. `choose` removes the records that
// are not wanted, and may change their order.
using VisitAccount =
    std::function<void(const TaskRecord& record, std::span<const AccountStretch> ended)>;
void read_sqlite_accounts(const std::string& path,
                          const std::function<void(std::vector<TaskRecord>& records)>& choose,
                          const VisitAccount& visit);

// Throws StoreError unless the file is a state of this version or an older one. Reads no record.
void check_sqlite_state(const std::string& path);

}  // namespace dutiful
