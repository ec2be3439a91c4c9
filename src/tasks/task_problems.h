// The problems of a task file, each with the error that a scheduler would throw for it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/error.h>

#include "tasks/task_file.h"
#include "tasks/toml_library.h"

namespace dutiful {

class TaskProblems {
 public:
  // The task that the problems from now on belong to, counted from 0; none: no single task.
  void set_task(std::optional<std::size_t> index) { index_ = index; }

  void add(Place place, std::string message, const Error& error, std::string received);
  void add(const toml::node& node, std::string message, const Error& error);

  // For a value of the wrong type, a missing key, or a key where none may be.
  void refuse_shape(Place place, std::string message, const std::string& received);
  void refuse_shape(const toml::node& node, std::string message);

  // For a value of the right type that is not acceptable.
  void refuse_value(std::string_view key, const toml::node& node, const std::string& message);
  void refuse_value(std::string_view key,
                    Place place,
                    const std::string& message,
                    const std::string& received);

  // For a key that is not one of `known`, which are those of `owner`: "a task".
  void refuse_key(const toml::key& key,
                  std::string_view owner,
                  std::span<const std::string_view> known);

  // In the order of the file.
  [[nodiscard]] std::vector<Problem> take();

 private:
  std::vector<Problem> problems_;
  std::optional<std::size_t> index_;
};

}  // namespace dutiful
