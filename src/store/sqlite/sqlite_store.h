// The state in an SQLite file: durable, and readable by other programs while it is in use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace dutiful {

// Opens the state, and makes it where there is none. Throws StateHeldError, and StoreError for a
// file that is damaged, foreign, written by a newer dutiful, or cannot be written.
//
// Another program that is writing to it, a backup say, is waited for so long at each operation.
[[nodiscard]] std::unique_ptr<Store> open_sqlite_store(const std::string& path,
                                                       Duration busy_timeout = std::chrono::seconds{
                                                           5});

// The records of a state, whoever holds it meanwhile. Changes nothing. Throws StoreError where
// there is no such state, and the errors of RULES P7 for a damaged record.
[[nodiscard]] std::vector<TaskRecord> read_sqlite_state(const std::string& path);

// Throws StoreError where there is no state of this dutiful or an older one. Looks at no record.
void check_sqlite_state(const std::string& path);

}  // namespace dutiful
