// Where the database is, and how a connection to it behaves.
#pragma once

#include <map>
#include <string>

#include <dutiful/time.h>

#include "cluster/effect.h"

namespace dutiful::postgres {

// How long a session may take, so that a member that has given it up does not stand in the way of
// the others: no longer than the member itself waits for an answer (Member::patience).
struct Timeouts {
  Duration statement;
  Duration lock;
  Duration idle_in_transaction;
  Duration network;  // without an acknowledgement
};
[[nodiscard]] Timeouts timeouts_of(cluster::Channel channel, Duration lease);

// libpq's settings by keyword. Passwords are among them, so it is never shown.
class Address {
 public:
  // Takes what libpq takes, postgresql://… or "host=… dbname=…". Throws a StoreError that does not
  // repeat the text, because a password may be in it.
  static Address parse(const std::string& text);

  // What is not given in the text.
  void set_default(const std::string& keyword, const std::string& value);
  void set_timeouts(const Timeouts& timeouts);
  void set(const std::string& keyword, const std::string& value);

  [[nodiscard]] std::string get(const std::string& keyword) const;
  [[nodiscard]] const std::map<std::string, std::string>& settings() const { return settings_; }

  // The message without the passwords, if it has any.
  [[nodiscard]] std::string without_secrets(std::string message) const;

 private:
  std::map<std::string, std::string> settings_;
};

}  // namespace dutiful::postgres
