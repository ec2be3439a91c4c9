#include "tasks/task_problems.h"

#include <algorithm>
#include <utility>

#include <dutiful/errors.h>

#include "tasks/toml_value.h"
#include "text/nearest.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// What a registration calls a key of the task file.
std::string field_of(std::string_view key) {
  if (key == "name") return "name";
  if (key == "cron") return "cronExpression";
  if (key == "retry") return "retryDelay";
  return key == "timeout" ? "timeLimit" : "callback";
}

}  // namespace

void TaskProblems::add(Place place, std::string message, const Error& error, std::string received) {
  Problem problem{.place = place,
                  .message = std::move(message),
                  .error = error.name(),
                  .registration_index = index_,
                  .received = std::move(received),
                  .details = error.fields()};
  std::erase_if(problem.details, [](const ErrorField& field) {
    return field.name == "registrationIndex" || field.name == "received";
  });
  problems_.push_back(std::move(problem));
}

void TaskProblems::add(const toml::node& node, std::string message, const Error& error) {
  add(place_of(node.source()), std::move(message), error, text_of(node));
}

void TaskProblems::refuse_shape(Place place, std::string message, const std::string& received) {
  add(place, std::move(message), RegistrationShapeError{index_.value_or(0), received}, received);
}

void TaskProblems::refuse_shape(const toml::node& node, std::string message) {
  refuse_shape(place_of(node.source()), std::move(message), text_of(node));
}

void TaskProblems::refuse_value(std::string_view key,
                                const toml::node& node,
                                const std::string& message) {
  refuse_value(key, place_of(node.source()), message, text_of(node));
}

void TaskProblems::refuse_value(std::string_view key,
                                Place place,
                                const std::string& message,
                                const std::string& received) {
  add(place, message, InvalidRegistrationError{field_of(key), received, message}, received);
}

void TaskProblems::refuse_key(const toml::key& key,
                              std::string_view owner,
                              std::span<const std::string_view> known) {
  std::string message = "unknown key " + quote(key.str()) + "; ";
  if (const std::string_view meant = nearest(key.str(), known); !meant.empty()) {
    message.append("did you mean ").append(quote(meant)).append("?");
  } else {
    message.append(owner).append(" has the keys ");
    for (std::size_t i = 0; i < known.size(); ++i)
      message.append(i == 0 ? "" : ", ").append(known[i]);
  }
  refuse_shape(place_of(key.source()), std::move(message), std::string{key.str()});
}

std::vector<Problem> TaskProblems::take() {
  // The TOML library keeps keys in alphabetical order.
  std::ranges::stable_sort(problems_, {}, [](const Problem& problem) {
    return std::pair{problem.place.line, problem.place.column};
  });
  return std::exchange(problems_, {});
}

}  // namespace dutiful
