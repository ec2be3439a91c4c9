// Responses as libmicrohttpd takes them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "http/body_budget.h"
#include "http/event_streams.h"
#include "http/response.h"

struct MHD_Response;

namespace dutiful::http {

struct MhdResponseDeleter {
  void operator()(MHD_Response* response) const noexcept;
};
using MhdResponse = std::unique_ptr<MHD_Response, MhdResponseDeleter>;

// These return nullptr if libmicrohttpd has no memory, and throw std::bad_alloc if we have none.

[[nodiscard]] MhdResponse from_text(std::string text, BodyBudget::Share share);
[[nodiscard]] MhdResponse from_source(std::shared_ptr<BodySource> source, BodyBudget::Share share);
// Closes the stream when the response is no longer used, also if there is none.
[[nodiscard]] MhdResponse from_stream(EventStreams& streams, EventStreams::Stream* stream);

// Adds the headers of the response and the default headers.
void add_headers(MHD_Response& target, const Response& response);

}  // namespace dutiful::http
