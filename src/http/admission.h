// Decides which requests reach the handler.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/limits.h"
#include "http/request.h"
#include "http/response.h"
#include "http/token.h"

namespace dutiful::http {

struct Connection;

// What libmicrohttpd has read.
struct ReceivedRequest {
  std::string_view method;
  std::string_view version;
  std::string_view target;
  std::vector<Field> headers;
  std::size_t headers_size;  // in bytes, as they were sent
};

struct AdmissionRules {
  std::optional<AccessToken> token{};
  std::vector<std::string> hosts{};
  std::function<bool(std::string_view path)> needs_no_token{};
  Limits limits{};
};

struct Admission {
  Request request{};
  std::optional<Response> refusal{};  // the answer, if the request does not reach the handler
  std::string reason{};               // why access is refused, to be reported; empty if it is not
};

[[nodiscard]] Admission admit(ReceivedRequest received,
                              const Connection& connection,
                              const AdmissionRules& rules);

}  // namespace dutiful::http
