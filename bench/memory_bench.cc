// The memory of a task beyond its name and its expression.

#include <malloc.h>
#include <nlohmann/json.hpp>

#include "figures.h"
#include "subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {

void memory(std::size_t tasks) {
  const TemporaryDirectory directory;
  Scheduler scheduler{{.state = directory.file("state.db"), .zone = Zone::utc()}};
  const std::size_t resident_before = resident_bytes();
  const auto before = mallinfo2();
  std::size_t texts = 0;
  {
    // Each task has its own callback, eight bytes that are not the scheduler's.
    std::vector<Registration> list;
    list.reserve(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
      list.push_back({.name = name_of(i),
                      .cron = rarely,
                      .callback = [i, &texts] { texts += i; },
                      .retry_delay = std::chrono::minutes{1}});
    }
    for (const Registration& task : list) texts += task.name.size() + task.cron.size();
    scheduler.initialize(std::move(list));
  }
  const auto after = mallinfo2();
  const std::size_t allocated = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
  print_figure(
      "memory",
      tasks,
      {{"bytes_per_task_beyond_texts",
        static_cast<double>(allocated - texts) / static_cast<double>(tasks)},
       {"resident_bytes_per_task",
        static_cast<double>(resident_bytes() - resident_before) / static_cast<double>(tasks)}});
}

}  // namespace dutiful::bench
