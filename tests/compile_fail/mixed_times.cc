// Instants and civil minutes do not mix.

#include <dutiful/cron.h>
#include <dutiful/time.h>

bool earlier(dutiful::Instant instant, dutiful::CivilMinute minute) {
#ifdef FORBIDDEN
  return instant < minute;
#else
  // An explicit conversion is allowed.
  return instant < dutiful::Instant{minute.time_since_epoch()};
#endif
}
