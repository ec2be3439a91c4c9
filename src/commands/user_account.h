// The user that a command runs as.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace dutiful {

struct UserAccount {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups{};
  std::string home{};
};

// Nothing if the host has no such user. Throws std::system_error if the lookup fails. May take
// long: the host may ask a directory service.
[[nodiscard]] std::optional<UserAccount> find_account(const std::string& user);

// The users of a list of tasks. Each is looked up once, when the list is loaded, and not by the
// thread that serves all commands: a directory service that does not respond would block it.
class UserAccounts {
 public:
  // Null if there is no such user or the lookup fails. The start of the command then looks the user
  // up again, and fails with the reason.
  [[nodiscard]] std::shared_ptr<const UserAccount> find(const std::string& user);

 private:
  std::map<std::string, std::shared_ptr<const UserAccount>> known_;
};

}  // namespace dutiful
