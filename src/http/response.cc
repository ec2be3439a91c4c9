#include "http/response.h"

#include <utility>

#include "text/quote.h"

namespace dutiful::http {

Response error_response(unsigned status, std::string_view message) {
  return {.status = status, .body = "{\"error\": " + json_string(message) + "}\n"};
}

Response text_response(unsigned status, std::string text) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(text)};
}

Response event_response(const Request& request) {
  const std::string* id = request.header("Last-Event-ID");
  if (id == nullptr) id = request.parameter("last_event_id");
  return {.content_type = "text/event-stream",
          .headers = {{"X-Accel-Buffering", "no"}},  // asks nginx to pass on every event at once
          .body = EventStream{.last_event_id = id != nullptr ? *id : std::string{}}};
}

const std::vector<Field>& default_headers() {
  static const std::vector<Field> headers{
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
  };
  return headers;
}

}  // namespace dutiful::http
