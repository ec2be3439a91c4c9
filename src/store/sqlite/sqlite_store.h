// The state in an SQLite file: durable, and readable by other programs while it is in use.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace dutiful {

// Opens the state, and makes it where there is none. Throws StateHeldError, and StoreError for a
// file that is damaged, foreign, written by a newer dutiful, or cannot be written.
[[nodiscard]] std::unique_ptr<Store> open_sqlite_store(const std::string& path);

}  // namespace dutiful
