// The subjects of scheduler_bench. Each prints its figures with their limits, measured in the same
// process.
#pragma once

#include <cstddef>
#include <string>

namespace dutiful::bench {

void initialize_sqlite(std::size_t tasks);
void burst_memory(std::size_t tasks);
void burst_sqlite(std::size_t tasks);
void lateness_memory(std::size_t tasks);
void lateness_sqlite(std::size_t tasks);
void memory(std::size_t tasks);
void idle(std::size_t tasks);
void naive_scan(std::size_t tasks);
void status(std::size_t tasks);
void stop_running(std::size_t tasks);
void recovery(std::size_t tasks);
void downtime(std::size_t tasks);
void simulated_year(std::size_t tasks);

// Runs in a process that `recovery` starts. Prints how long after `started`, in seconds of the
// steady clock, the last of this many interrupted runs has restarted.
void recover(const std::string& state, std::size_t tasks, std::size_t orphans, double started);

}  // namespace dutiful::bench
