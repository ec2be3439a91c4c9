// Whom a command runs as.
#pragma once

#include <map>
#include <memory>
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
// May take long: a host may ask others about its users.
[[nodiscard]] std::optional<Account> find_account(const std::string& user);

// The users of a list of tasks, each looked up once, when the list is loaded: not by the thread
// that serves all commands, which a directory that does not answer would hold up.
class Accounts {
 public:
  // Nothing where there is no such user, or where that cannot be told; then it is looked up again
  // when the command is started, which fails in words for its owner.
  [[nodiscard]] std::shared_ptr<const Account> find(const std::string& user);

 private:
  std::map<std::string, std::shared_ptr<const Account>> known_;
};

}  // namespace dutiful
