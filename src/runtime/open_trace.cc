#include "runtime/open_trace.h"

#include <utility>

#include <dutiful/errors.h>

#include "engine/header.h"
#include "runtime/no_trace.h"
#include "runtime/options.h"
#include "runtime/trace_file.h"
#include "text/quote.h"

namespace dutiful {
std::unique_ptr<TraceSink> open_trace(const Options& options,
                                      const Zone& zone,
                                      Reporter& reporter,
                                      const Clock& clock,
                                      std::shared_ptr<JudgementBoard> judgement) {
  if (options.trace.empty()) return std::make_unique<NoTrace>();
  TraceListener listener{
      .failed =
          [&reporter, &clock](const std::string& error) {
            reporter.report(event::TraceFailed{error}, clock.now());
          },
      .set_aside =
          [&reporter, &clock, trace = options.trace](const TraceListener::SetAside& damaged) {
            reporter.report(
                event::TraceSetAside{.file = damaged.file,
                                     .error = "The trace " + quote(trace) + ' ' + damaged.reason},
                clock.now());
          }};
  if (options.verify) {
    listener.judgement = std::move(judgement);
    listener.violated = [&reporter, &clock](const theory::Violation& violation) {
      reporter.report(event_of(violation), clock.now());
    };
  }
  try {
    return std::make_unique<TraceFile>(
        options.trace, header_of(zone, policies_of(options)), zone, std::move(listener));
  } catch (const TraceError&) {
    reporter.access_refused(std::current_exception(), clock.now());
    throw;
  }
}

}  // namespace dutiful
