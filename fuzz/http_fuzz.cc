// Whatever a client sends, a request reaches the handler only if it is ours, and decoded.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/address.h"
#include "http/admission.h"
#include "http/connections.h"
#include "http/event_hub.h"
#include "http/host.h"
#include "http/token.h"
#include "text/utf8.h"

namespace dutiful::http {
namespace {

constexpr const char* secret = "0123456789abcdef";

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "violated: " << what << '\n';
  std::abort();
}

void require_text(const std::string& text) {
  require(text.find('\0') == std::string::npos, "decoded text has no NUL");
  require(find_not_utf8(text) == std::string::npos, "decoded text is UTF-8");
}

void check_admitted(const Request& request, const AdmissionRules& rules) {
  require(request.path.starts_with('/'), "a path begins with a slash");
  for (const std::string& segment : request.segments) {
    require_text(segment);
    require(segment != "." && segment != "..", "there are no dot segments");
  }
  require(request.query.size() <= rules.limits.parameters_max, "parameters are bounded");
  for (const auto& [name, value] : request.query) {
    require_text(name);
    require_text(value);
  }
  const std::string* host = request.header("Host");
  require(host != nullptr && is_our_host(*host, "127.0.0.1", rules.hosts), "the host is ours");
  const std::string* authorization = request.header("Authorization");
  require(authorization != nullptr, "there is an authorization");
  const bool is_bearer = authorization->find(secret) != std::string::npos;
  const bool is_basic = authorization->size() > 6 &&
                        decode_base64(authorization->substr(authorization->rfind(' ') + 1))
                                .value_or("")
                                .find(secret) != std::string::npos;
  require(is_bearer || is_basic, "the token was sent");
}

// Lines: the target, then headers as "Name: value".
void check_request(std::string_view text) {
  const auto line = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
  };
  ReceivedRequest received{
      .method = "GET", .version = "HTTP/1.1", .target = line(), .headers = {}, .headers_size = 0};
  while (!text.empty()) {
    const std::string_view header = line();
    const std::size_t colon = std::min(header.find(": "), header.size());
    received.headers.push_back(
        {.name = std::string{header.substr(0, colon)},
         .value = std::string{header.substr(std::min(colon + 2, header.size()))}});
  }
  Connection connection;
  connection.client = "127.0.0.1";
  connection.local_address = "127.0.0.1";
  static const AdmissionRules rules{.token = AccessToken{secret}, .hosts = {"cron.example.com"}};
  const Admission admission = admit(std::move(received), connection, rules);
  if (admission.refusal) {
    require(admission.refusal->status >= 400, "a refusal is an error");
    const auto& body = std::get<std::string>(admission.refusal->body);
    require(body.starts_with("{\"error\": \"") && body.ends_with("\"}\n"), "its body is JSON");
    require(std::ranges::count(body, '\n') == 1, "on one line");
  } else {
    check_admitted(admission.request, rules);
  }
}

void check_address(const std::string& text) {
  try {
    const ListenAddress address = parse_listen_address(text);
    require(parse_listen_address(address.to_string()) == address, "print and parse round-trip");
  } catch (const InvalidListenAddress& error) {
    require(std::string_view{error.what()}.find('\n') == std::string_view::npos,
            "a message is one line");
  }
  try {
    const std::vector<std::string> hosts{parse_listen_host(text)};
    const bool is_ipv6 = hosts.front().find(':') != std::string::npos;
    const std::string sent = is_ipv6 ? '[' + hosts.front() + ']' : hosts.front();
    require(is_our_host(sent + ":80", "192.0.2.1", hosts), "a host that is given is accepted");
  } catch (const std::invalid_argument&) {
    return;
  }
}

void check_event_id(const std::string& text) {
  EventHub hub{{.events_max = 2}, "boot"};
  for (const char* data : {"1", "2", "3"}) {
    hub.publish("E", data);
    hub.collect();
  }
  EventHub::Cursor cursor = hub.after(text);
  std::string buffer(1024, '\0');
  buffer.resize(hub.read(cursor, buffer.data(), buffer.size()));
  require(buffer.empty() || buffer.find("id: boot-3\n") != std::string::npos,
          "the newest event is sent, unless the client has it");
  require(!hub.has_news(cursor), "everything was read");
}

}  // namespace
}  // namespace dutiful::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  dutiful::http::check_request(text);
  dutiful::http::check_address(text);
  dutiful::http::check_event_id(text);
  return 0;
}
