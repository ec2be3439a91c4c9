// Whom a command runs as.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace dutiful {

struct Account {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups{};
  std::string home{};
};

// Nothing where the host knows no such user. Throws std::system_error where it cannot tell.
[[nodiscard]] std::optional<Account> find_account(const std::string& user);

}  // namespace dutiful
