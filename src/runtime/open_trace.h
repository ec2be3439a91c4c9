// The trace of a scheduler, whose troubles are events.
#pragma once

#include <memory>

#include <dutiful/scheduler.h>

#include "engine/reporter.h"
#include "trace/event.h"

namespace dutiful {

class JudgementBoard;

// The trace that the options ask for; one that keeps nothing if they ask for none. It reports
// TraceFailed, TraceSetAside and TheoryViolated, on the thread that adds to the trace.
//
// If it is checked, the judgement shows the result so far.
//
// The reporter and the clock must outlive it. Throws TraceError, and reports AccessRefused if that
// is the reason.
[[nodiscard]] std::unique_ptr<TraceSink> open_trace(const Options& options,
                                                    const Zone& zone,
                                                    Reporter& reporter,
                                                    const Clock& clock,
                                                    std::shared_ptr<JudgementBoard> judgement);

}  // namespace dutiful
