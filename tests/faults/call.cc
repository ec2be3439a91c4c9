#include "faults/call.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace dutiful::faults {

std::string to_text(const LoggedCall& logged) {
  const Call& call = logged.call;
  std::string text = std::to_string(logged.number);
  text.append(" ").append(name_of(call.kind)).append(" ").append(call.file);
  text.append(" ").append(std::to_string(call.offset));
  text.append(" ").append(std::to_string(call.size));
  text.append(logged.succeeded ? " ok " : " failed ");
  return text.append(std::to_string(call.data.size())).append("\n").append(call.data).append("\n");
}

std::vector<LoggedCall> parse_log(const std::string& text) {
  std::vector<LoggedCall> log;
  std::istringstream in{text};
  for (std::string kind, outcome; in.peek() != std::istringstream::traits_type::eof();) {
    LoggedCall logged;
    Call& call = logged.call;
    std::size_t length = 0;
    in >> logged.number >> kind >> call.file >> call.offset >> call.size >> outcome >> length;
    const auto found = std::find(kind_names.begin(), kind_names.end(), kind);
    if (!in || found == kind_names.end() || in.get() != '\n') {
      throw std::runtime_error("the log of calls is malformed after " + std::to_string(log.size()));
    }
    call.kind = static_cast<Kind>(found - kind_names.begin());
    logged.succeeded = outcome == "ok";
    call.data.resize(length);
    in.read(call.data.data(), static_cast<std::streamsize>(length));
    if (!in || in.get() != '\n') throw std::runtime_error("the log of calls ends in a call's data");
    log.push_back(std::move(logged));
  }
  return log;
}

}  // namespace dutiful::faults
