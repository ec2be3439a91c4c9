// The answer to a request.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/request.h"

namespace dutiful::http {

// A body that is made while it is sent, so that a large one is never in memory as a whole.
class BodySource {
 public:
  BodySource() = default;
  virtual ~BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;

  // The next piece; an empty one ends the body. Called by one thread at a time. If it throws, the
  // connection is closed, by which the client learns that the body is not complete.
  virtual std::string next() = 0;

  // How many bytes it keeps in memory while it is sent.
  [[nodiscard]] virtual std::size_t held() const { return 0; }
};

// The events of Options::events, as text/event-stream, until the client leaves.
struct EventStream {
  std::string
      last_event_id{};  // the client has this one and all before; empty: none, only new ones
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  // Replace the default headers of the same name (default_headers()).
  std::vector<Field> headers{};
  std::variant<std::string, std::shared_ptr<BodySource>, EventStream> body{};
};

// {"error": "<message>"}
[[nodiscard]] Response error_response(unsigned status, std::string_view message);
[[nodiscard]] Response text_response(unsigned status, std::string text);
// The events after the header `Last-Event-ID`, or after the parameter `last_event_id`, which a
// program can set more easily.
[[nodiscard]] Response event_response(const Request& request);

// What every response carries, unless it sets the header itself: nothing is kept by caches, guessed
// by browsers, shown in frames or readable by other origins.
[[nodiscard]] const std::vector<Field>& default_headers();

}  // namespace dutiful::http
