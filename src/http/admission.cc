#include "http/admission.h"

#include <algorithm>
#include <utility>

#include "http/connections.h"
#include "http/host.h"
#include "http/names.h"
#include "http/target.h"
#include "text/quote.h"

namespace dutiful::http {
namespace {

Admission refused(Response response, std::string reason = {}) {
  return {.refusal = std::move(response), .reason = std::move(reason)};
}

Admission refused(unsigned status, std::string_view message) {
  return refused(error_response(status, message));
}

Response unauthorized() {
  Response response = error_response(401, "a token is needed");
  response.headers.push_back({"WWW-Authenticate", R"(Basic realm="dutiful", charset="UTF-8")"});
  response.headers.push_back({"WWW-Authenticate", R"(Bearer realm="dutiful")"});
  return response;
}

Response method_not_allowed() {
  Response response = error_response(405, "only GET and HEAD are allowed");
  response.headers.push_back({"Allow", "GET, HEAD"});
  return response;
}

// RFC 9112, 5.1: there is no space in or after the name of a header.
bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
  });
}

// Another program may see a body where we see the next request, so nothing more is read.
Response malformed_header() {
  Response response =
      error_response(400, "the name of a header must not be empty or contain a space");
  response.headers.push_back({"Connection", "close"});
  return response;
}

bool has_body(const Request& request) {
  const std::string* length = request.header("Content-Length");
  return (length != nullptr && *length != "0") || request.header("Transfer-Encoding") != nullptr;
}

}  // namespace

Admission admit(ReceivedRequest received,
                const Connection& connection,
                const AdmissionRules& rules) {
  const Limits& limits = rules.limits;
  if (received.target.size() > limits.target_max) {
    return refused(414, "the request target is too long");
  }
  if (received.headers.size() > limits.header_count_max ||
      received.headers_size > limits.headers_max) {
    return refused(431, "the headers are too large");
  }
  if (!std::ranges::all_of(received.headers, is_name, &Field::name)) {
    return refused(malformed_header());
  }
  Admission admission;
  Request& request = admission.request;
  request.client = connection.client;
  request.headers = std::move(received.headers);

  const auto hosts = std::ranges::count_if(
      request.headers, [](const Field& field) { return same_name(field.name, "Host"); });
  // Every browser sends one. Probes that use HTTP/1.0 do not have to.
  if (hosts > 1 || (hosts == 0 && received.version != "HTTP/1.0")) {
    return refused(400, "the request must have one header Host");
  }
  // No web page can reach a Unix socket, and a proxy in front of it may send any name.
  if (hosts == 1 && !connection.on_unix_socket) {
    const std::string& host = *request.header("Host");
    if (!is_our_host(host, connection.local_address, rules.hosts)) {
      return refused(
          error_response(
              421, "this server is not " + quote(host) + "; allow that name with --listen-host"),
          "the header Host names another server: " + quote(host));
    }
  }

  if (received.method != "GET" && received.method != "HEAD") return refused(method_not_allowed());
  if (received.method == "HEAD") request.method = Request::Method::head;
  if (has_body(request)) return refused(413, "a request must have no body");

  Target target = parse_target(received.target, limits.parameters_max);
  if (!target.error.empty()) return refused(400, target.error);
  request.path = std::move(target.path);
  request.segments = std::move(target.segments);
  request.query = std::move(target.query);

  if (!rules.token || (rules.needs_no_token && rules.needs_no_token(request.path))) {
    return admission;
  }
  const std::string* authorization = request.header("Authorization");
  if (authorization == nullptr) return refused(unauthorized(), "there is no token");
  if (!rules.token->admits(*authorization)) return refused(unauthorized(), "the token is wrong");
  return admission;
}

}  // namespace dutiful::http
