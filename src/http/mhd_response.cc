#include "http/mhd_response.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include <microhttpd.h>

#include "http/names.h"

namespace dutiful::http {
namespace {

// How much is asked of a body at once.
constexpr std::size_t block_size = 16UL * 1024;

struct OwnedText {
  std::string text;
  BodyBudget::Share share;
};

void free_text(void* text) {
  const std::unique_ptr<OwnedText> owned{static_cast<OwnedText*>(text)};
}

struct SourceReader {
  std::shared_ptr<BodySource> source;
  BodyBudget::Share share;
  std::string piece{};
  std::size_t offset = 0;  // in the piece
  bool has_ended = false;
  bool has_failed = false;
};

// Fills the buffer, however small the pieces are: each call of it costs a system call.
ssize_t read_source(void* cls, std::uint64_t /*position*/, char* buffer, std::size_t size) {
  auto& reader = *static_cast<SourceReader*>(cls);
  std::size_t copied = 0;
  try {
    while (copied < size && !reader.has_ended && !reader.has_failed) {
      if (reader.offset == reader.piece.size()) {
        reader.piece = reader.source->next();
        reader.offset = 0;
        reader.has_ended = reader.piece.empty();
      }
      const std::size_t part = reader.piece.copy(buffer + copied, size - copied, reader.offset);
      reader.offset += part;
      copied += part;
    }
  } catch (...) {
    reader.has_failed = true;
  }
  if (copied > 0) return static_cast<ssize_t>(copied);
  return reader.has_failed ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
}

void free_source(void* cls) {
  const std::unique_ptr<SourceReader> owned{static_cast<SourceReader*>(cls)};
}

struct StreamReader {
  EventStreams& streams;
  EventStreams::Stream* stream;
};

ssize_t read_stream(void* cls, std::uint64_t /*position*/, char* buffer, std::size_t size) {
  auto& reader = *static_cast<StreamReader*>(cls);
  try {
    return reader.streams.read(*reader.stream, buffer, size);
  } catch (...) {
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
}

void free_stream(void* cls) {
  const std::unique_ptr<StreamReader> owned{static_cast<StreamReader*>(cls)};
  owned->streams.close(owned->stream);
}

}  // namespace

void MhdResponseDeleter::operator()(MHD_Response* response) const noexcept {
  MHD_destroy_response(response);
}

MhdResponse from_text(std::string text, BodyBudget::Share share) {
  auto owned = std::make_unique<OwnedText>(OwnedText{std::move(text), std::move(share)});
  MhdResponse response{MHD_create_response_from_buffer_with_free_callback_cls(
      owned->text.size(), owned->text.data(), free_text, owned.get())};
  if (response) static_cast<void>(owned.release());
  return response;
}

MhdResponse from_source(std::shared_ptr<BodySource> source, BodyBudget::Share share) {
  auto reader = std::make_unique<SourceReader>(
      SourceReader{.source = std::move(source), .share = std::move(share)});
  MhdResponse response{MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, block_size, read_source, reader.get(), free_source)};
  if (response) static_cast<void>(reader.release());
  return response;
}

MhdResponse from_stream(EventStreams& streams, EventStreams::Stream* stream) {
  std::unique_ptr<StreamReader> reader{new (std::nothrow)
                                           StreamReader{.streams = streams, .stream = stream}};
  MhdResponse response;
  if (reader) {
    response.reset(MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, block_size, read_stream, reader.get(), free_stream));
  }
  if (response) {
    static_cast<void>(reader.release());
  } else {
    streams.close(stream);
  }
  return response;
}

void add_headers(MHD_Response& target, const Response& response) {
  const auto add = [&](const std::string& name, const std::string& value) {
    MHD_add_response_header(&target, name.c_str(), value.c_str());
  };
  add("Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) add(name, value);
  for (const Field& field : default_headers()) {
    const bool is_replaced = std::ranges::any_of(
        response.headers, [&](const Field& own) { return same_name(own.name, field.name); });
    if (!is_replaced) add(field.name, field.value);
  }
}

}  // namespace dutiful::http
