// Notifies systemd of the state of the daemon (sd_notify(3)), if systemd asks for it.
#pragma once

#include <optional>
#include <string>

#include <dutiful/time.h>

namespace dutiful {

class Supervisor {
 public:
  // Reads the variables that systemd sets. Without them, the functions below do nothing.
  Supervisor();

  void ready();
  void reloading();
  void stopping();
  void alive();

  // How often to call alive(); none: the watchdog is off.
  [[nodiscard]] std::optional<Duration> alive_every() const { return alive_every_; }

 private:
  void notify(const std::string& message) const;

  std::string socket_;
  std::optional<Duration> alive_every_;
};

}  // namespace dutiful
