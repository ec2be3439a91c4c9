// One live scheduler per state, among all processes of a host (RULES P6).
#pragma once

#include <string>

namespace dutiful {

// Holds a lock of the operating system, which dies with the process however that ends. The lock is
// on a file of its own beside the state: closing any descriptor of the state itself would take away
// SQLite's locks.
class Ownership {
 public:
  // Throws StateHeldError, which names the holder, or StoreError where there can be no lock.
  explicit Ownership(const std::string& state);
  ~Ownership();
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;

 private:
  int descriptor_;
};

}  // namespace dutiful
