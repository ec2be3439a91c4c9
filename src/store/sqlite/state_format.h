// The tables of a state, and the steps from each version to the next.
#pragma once

#include "store/sqlite/database.h"

namespace dutiful {

extern const Database::Format state_format;

}  // namespace dutiful
