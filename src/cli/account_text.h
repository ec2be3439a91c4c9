// Accounts of pulses, for people.
#pragma once

#include <iosfwd>
#include <vector>

#include <dutiful/zone.h>

#include "daemon/account_report.h"

namespace dutiful {

// A table with a line for each task.
void print_accounts(const std::vector<TaskAccount>& accounts, const Zone& zone, std::ostream& out);

// A table with a line for each stretch of each task. Requires that the accounts have stretches.
void print_days(const std::vector<TaskAccount>& accounts, const Zone& zone, std::ostream& out);

// The account of one task in sentences.
void print_account(const TaskAccount& account, const Zone& zone, std::ostream& out);

}  // namespace dutiful
