// Tells systemd how the daemon is doing (sd_notify(3)), if systemd wants to know.
#pragma once

#include <optional>
#include <string>

#include <dutiful/time.h>

namespace dutiful {

class Supervisor {
 public:
  // Takes what systemd said in the environment. Throws nothing: without it, it does nothing.
  Supervisor();

  void ready();
  void reloading();
  void stopping();
  void alive();

  // How often alive() is wanted.
  [[nodiscard]] std::optional<Duration> alive_every() const { return alive_every_; }

 private:
  void tell(const std::string& message) const;

  std::string socket_;
  std::optional<Duration> alive_every_;
};

}  // namespace dutiful
