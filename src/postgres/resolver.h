// Resolves the names of hosts without waiting for them.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "postgres/address.h"

struct pollfd;

namespace dutiful::postgres {

// Whether the address has a name that libpq would resolve, and wait for.
[[nodiscard]] bool has_names(const Address& address);

// On a thread of its own, which nobody waits for: getaddrinfo() cannot be cancelled.
class Resolver {
 public:
  struct Failed {
    std::string why;
  };
  // Throws std::system_error if there is no thread or descriptor left.
  explicit Resolver(Address address);

  [[nodiscard]] bool is_done() const;
  // The address with numbers for the names. Requires that it is done.
  [[nodiscard]] std::variant<Address, Failed> take();
  void add_to(std::vector<pollfd>& waiting) const;

 private:
  struct Lookup;
  std::shared_ptr<Lookup> lookup_;
};

}  // namespace dutiful::postgres
