// The state in an SQLite file: durable, and readable by other programs while a scheduler holds it.
#pragma once

#include <memory>
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

// Throws StoreError unless the file is a state of this version or an older one. Reads no record.
void check_sqlite_state(const std::string& path);

}  // namespace dutiful
