#include "postgres/address.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <libpq-fe.h>

#include <dutiful/errors.h>

namespace dutiful::postgres {

Timeouts timeouts_of(cluster::Channel channel, Duration lease) {
  const Duration patience = channel == cluster::Channel::renewals ? lease / 3 : lease;
  return {.statement = patience,
          .lock = patience / 2,
          .idle_in_transaction = patience,
          .network = patience};
}

Address Address::parse(const std::string& text) {
  const auto free = [](PQconninfoOption* options) { PQconninfoFree(options); };
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(free)> options{
      PQconninfoParse(text.c_str(), &message), free};
  PQfreemem(message);  // it may repeat a password
  if (options == nullptr) {
    throw StoreError("the database",
                     "has an invalid address; write it as postgresql://USER@HOST:PORT/DATABASE, "
                     "with special characters as %XX");
  }
  Address address;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) address.settings_.emplace(option->keyword, option->val);
  }
  // libpq would resolve the name in this variable itself, and wait.
  const char* const host = std::getenv("PGHOST");
  if (host != nullptr && address.get("hostaddr").empty() && address.get("service").empty()) {
    address.set_default("host", host);
  }
  address.set_default("application_name", "dutiful");
  address.set_default("client_encoding", "UTF8");
  address.set_default("keepalives", "1");
  // A standby can be read and not written. Of several hosts, the primary is meant.
  address.set_default("target_session_attrs", "read-write");
  // Kerberos asks its servers, and waits for them.
  address.set_default("gssencmode", "disable");
  return address;
}

void Address::set_default(const std::string& keyword, const std::string& value) {
  settings_.try_emplace(keyword, value);
}

void Address::set(const std::string& keyword, const std::string& value) {
  settings_.insert_or_assign(keyword, value);
}

void Address::set_timeouts(const Timeouts& timeouts) {
  const auto seconds = [](Duration duration) {
    return std::to_string(
        std::max<std::int64_t>(1, std::chrono::floor<std::chrono::seconds>(duration).count()));
  };
  set_default("tcp_user_timeout", std::to_string(timeouts.network.count()));
  set_default("keepalives_idle", seconds(timeouts.network / 3));
  set_default("keepalives_interval", seconds(timeouts.network / 3));
  set_default("keepalives_count", "2");
}

std::string Address::get(const std::string& keyword) const {
  const auto place = settings_.find(keyword);
  return place == settings_.end() ? std::string{} : place->second;
}

std::string Address::without_secrets(std::string message) const {
  for (const char* keyword : {"password", "sslpassword"}) {
    const std::string secret = get(keyword);
    if (secret.empty()) continue;
    for (std::size_t at = 0; (at = message.find(secret, at)) != std::string::npos;) {
      message.replace(at, secret.size(), "***");
      at += 3;
    }
  }
  return message;
}

}  // namespace dutiful::postgres
