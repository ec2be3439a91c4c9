#include "metrics/page.h"

#include <array>
#include <charconv>
#include <cstdlib>

namespace dutiful {
namespace {

std::string_view name_of(Page::Type type) {
  switch (type) {
    case Page::Type::counter:
      return "counter";
    case Page::Type::gauge:
      return "gauge";
    case Page::Type::summary:
      return "summary";
    case Page::Type::histogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace

void Page::family(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
  text_.append(name).append(" ").append(name_of(type)).append("\n");
}

void Page::sample(Labels labels, std::uint64_t value) {
  begin_sample({}, labels);
  append(value);
  end_sample();
}

void Page::sample(Labels labels, Duration value) {
  begin_sample({}, labels);
  append(value);
  end_sample();
}

void Page::infinite_sample(Labels labels) {
  begin_sample({}, labels);
  text_.append("+Inf");
  end_sample();
}

void Page::sample(Labels labels, const DurationSum& value) {
  begin_sample("_sum", labels);
  append(value.sum);
  end_sample();
  begin_sample("_count", labels);
  append(value.count);
  end_sample();
}

void Page::begin_sample(std::string_view suffix, Labels labels) {
  text_.append(name_).append(suffix);
  if (labels.size() > 0) {
    text_.push_back('{');
    for (const std::string_view part : labels) text_.append(part);
    text_.push_back('}');
  }
  text_.push_back(' ');
}

void Page::append(std::uint64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
}

void Page::append(Duration value) {
  const auto milliseconds = value.count();
  if (milliseconds < 0) text_.push_back('-');
  append(static_cast<std::uint64_t>(std::abs(milliseconds / 1000)));
  const auto fraction = std::abs(milliseconds % 1000);
  if (fraction == 0) return;
  text_.push_back('.');
  for (const auto unit : {100, 10, 1})
    text_.push_back(static_cast<char>('0' + fraction / unit % 10));
}

void Page::bucket(Duration bound, std::uint64_t count) {
  text_.append(name_).append("_bucket{le=\"");
  append(bound);
  text_.append("\"} ");
  append(count);
  end_sample();
}

void Page::last_bucket(std::uint64_t count) {
  begin_sample("_bucket", {"le=\"+Inf\""});
  append(count);
  end_sample();
}

}  // namespace dutiful
