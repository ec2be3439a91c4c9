// Everything: the scheduler, and the cron expressions, zones and calendars it is made of.
#pragma once

#include <dutiful/calendar.h>   // IWYU pragma: export
#include <dutiful/cron.h>       // IWYU pragma: export
#include <dutiful/errors.h>     // IWYU pragma: export
#include <dutiful/limits.h>     // IWYU pragma: export
#include <dutiful/scheduler.h>  // IWYU pragma: export
#include <dutiful/status.h>     // IWYU pragma: export
#include <dutiful/version.h>    // IWYU pragma: export
