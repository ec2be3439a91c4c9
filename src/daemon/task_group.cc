#include "daemon/task_group.h"

#include <algorithm>
#include <iterator>

#include "text/characters.h"

namespace dutiful {

std::vector<TaskStatus> sorted_by_group(const std::vector<TaskStatus>& tasks,
                                        std::string_view search) {
  std::vector<TaskStatus> sorted;
  std::ranges::copy_if(tasks, std::back_inserter(sorted), [&](const TaskStatus& task) {
    return contains_in_any_case(task.name, search);
  });
  std::ranges::stable_sort(sorted, {}, &group_of);  // they are in the order of their names
  return sorted;
}

}  // namespace dutiful
