#include "commands/user_account.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <grp.h>
#include <pwd.h>

namespace dutiful {

std::optional<UserAccount> find_account(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> texts(1024);
  int error = ERANGE;
  while (error == ERANGE && texts.size() <= 1024UL * 1024) {
    texts.resize(texts.size() * 2);
    error = getpwnam_r(user.c_str(), &entry, texts.data(), texts.size(), &found);
  }
  if (found == nullptr) {
    // Some hosts report a missing user with one of these (getpwnam(3)).
    if (error == 0 || error == ENOENT || error == ESRCH) return std::nullopt;
    throw std::system_error(error, std::generic_category());
  }

  UserAccount account{.user = entry.pw_uid, .group = entry.pw_gid, .home = entry.pw_dir};
  // Once more if there was not enough room: a group may have been added in the meantime.
  int count = 16;
  do {
    account.groups.resize(static_cast<std::size_t>(count));
  } while (getgrouplist(user.c_str(), entry.pw_gid, account.groups.data(), &count) < 0);
  account.groups.resize(static_cast<std::size_t>(count));
  return account;
}

std::shared_ptr<const UserAccount> UserAccounts::find(const std::string& user) {
  if (user.empty()) return nullptr;
  const auto [known, is_new] = known_.try_emplace(user);
  if (is_new) {
    try {
      if (auto account = find_account(user)) {
        known->second = std::make_shared<const UserAccount>(std::move(*account));
      }
    } catch (const std::system_error&) {
      // The start of the command reports it.
    }
  }
  return known->second;
}

}  // namespace dutiful
