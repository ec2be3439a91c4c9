#include "commands/account.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <grp.h>
#include <pwd.h>

namespace dutiful {

std::optional<Account> find_account(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> texts(1024);
  int error = ERANGE;
  while (error == ERANGE && texts.size() <= 1024UL * 1024) {
    texts.resize(texts.size() * 2);
    error = getpwnam_r(user.c_str(), &entry, texts.data(), texts.size(), &found);
  }
  if (found == nullptr) {
    // Some say "no such user" by these (getpwnam(3)).
    if (error == 0 || error == ENOENT || error == ESRCH) return std::nullopt;
    throw std::system_error(error, std::generic_category());
  }

  Account account{.user = entry.pw_uid, .group = entry.pw_gid, .home = entry.pw_dir};
  // Again while there are more than there was room for: a membership may be added meanwhile.
  int count = 16;
  do {
    account.groups.resize(static_cast<std::size_t>(count));
  } while (getgrouplist(user.c_str(), entry.pw_gid, account.groups.data(), &count) < 0);
  account.groups.resize(static_cast<std::size_t>(count));
  return account;
}

std::shared_ptr<const Account> Accounts::find(const std::string& user) {
  if (user.empty()) return nullptr;
  const auto [known, is_new] = known_.try_emplace(user);
  if (is_new) {
    try {
      if (auto account = find_account(user)) {
        known->second = std::make_shared<const Account>(std::move(*account));
      }
    } catch (const std::system_error&) {
      // Told when it is needed.
    }
  }
  return known->second;
}

}  // namespace dutiful
