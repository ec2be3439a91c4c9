#include "postgres/session.h"

#include <exception>
#include <utility>

#include <libpq-fe.h>
#include <poll.h>

#include "postgres/database_error.h"

namespace dutiful::postgres {

void Session::Closer::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

Session::Session(Address address) : address_(std::move(address)) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : address_.settings()) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  handle_.reset(PQconnectStartParams(keywords.data(), values.data(), 0));
  // libpq would write what the server has to remark to our standard error.
  PQsetNoticeProcessor(
      handle_.get(), [](void* /*argument*/, const char* /*message*/) {}, nullptr);
}

short Session::awaited() const {
  if (state_ == State::connecting) return wants_to_write_ ? POLLOUT : POLLIN;
  return wants_to_write_ ? POLLIN | POLLOUT : POLLIN;
}

void Session::add_to(std::vector<pollfd>& waiting) const {
  if (state_ == State::broken) return;
  waiting.push_back({.fd = PQsocket(handle_.get()), .events = awaited(), .revents = 0});
}

std::vector<Session::Event> Session::advance() {
  std::vector<Event> events;
  if (state_ == State::connecting) connect_further(events);
  if (state_ == State::open) read(events);
  return events;
}

void Session::connect_further(std::vector<Event>& events) {
  while (PQstatus(handle_.get()) != CONNECTION_BAD) {
    // libpq takes a socket that is not ready for one that has connected.
    pollfd ready{.fd = PQsocket(handle_.get()), .events = awaited(), .revents = 0};
    if (poll(&ready, 1, 0) <= 0) return;
    switch (PQconnectPoll(handle_.get())) {
      case PGRES_POLLING_WRITING:
        wants_to_write_ = true;
        break;
      case PGRES_POLLING_READING:
        wants_to_write_ = false;
        break;
      case PGRES_POLLING_OK:
        if (PQsetnonblocking(handle_.get(), 1) != 0 || PQenterPipelineMode(handle_.get()) != 1) {
          return break_off(events);
        }
        state_ = State::open;
        wants_to_write_ = false;
        events.emplace_back(Opened{});
        return;
      default:
        return break_off(events);
    }
  }
  break_off(events);
}

void Session::start(Round round) {
  round_ = std::move(round);
  error_.reset();
  send();
}

// A failure to send shows when the answer is read.
void Session::send() {
  results_.clear();
  for (const Command& command : round_->commands) {
    const auto& parameters = command.parameters.values();
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const auto& value : parameters) values.push_back(value ? value->c_str() : nullptr);
    PQsendQueryParams(handle_.get(),
                      command.sql.c_str(),
                      static_cast<int>(values.size()),
                      nullptr,
                      values.data(),
                      nullptr,
                      nullptr,
                      0);
  }
  round_->commands.clear();
  PQpipelineSync(handle_.get());
  wants_to_write_ = PQflush(handle_.get()) == 1;
}

void Session::read(std::vector<Event>& events) {
  if (PQconsumeInput(handle_.get()) == 0) return break_off(events);
  if (wants_to_write_) {
    const int left = PQflush(handle_.get());
    if (left < 0) return break_off(events);
    wants_to_write_ = left == 1;
  }
  take_results(events);
  if (state_ == State::broken) return;
  if (PQstatus(handle_.get()) == CONNECTION_BAD) return break_off(events);
  while (PGnotify* notice = PQnotifies(handle_.get())) {
    PQfreemem(notice);
    events.emplace_back(Notified{});
  }
}

void Session::take_results(std::vector<Event>& events) {
  bool at_end = false;  // of the results of a command
  while (round_ && state_ == State::open && PQisBusy(handle_.get()) == 0) {
    PGresult* const taken = PQgetResult(handle_.get());
    if (taken == nullptr) {
      if (std::exchange(at_end, true)) return;
      continue;
    }
    at_end = false;
    Result result{taken};
    switch (PQresultStatus(taken)) {
      case PGRES_PIPELINE_SYNC:
        finish_round(events);
        break;
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
        results_.push_back(std::move(result));
        break;
      case PGRES_PIPELINE_ABORTED:
        break;
      default:
        if (!error_) error_ = reason_of(*taken);
        if (PQstatus(handle_.get()) == CONNECTION_BAD) return break_off(events);
    }
  }
}

void Session::finish_round(std::vector<Event>& events) {
  if (error_) return fail(std::move(*error_), events);
  Outcome outcome;
  try {
    outcome = round_->then(results_);
  } catch (const std::exception& error) {
    return fail(error.what(), events);
  }
  if (auto* next = std::get_if<Round>(&outcome.value)) {
    round_ = std::move(*next);
    return send();
  }
  round_.reset();
  results_.clear();
  if (auto* answer = std::get_if<cluster::Answer>(&outcome.value)) {
    events.emplace_back(Finished{std::move(*answer)});
  } else {
    events.emplace_back(Refused{std::get<Refusal>(std::move(outcome.value)).why});
  }
}

void Session::fail(std::string why, std::vector<Event>& events) {
  error_.reset();
  // A transaction that was begun explicitly outlives its round.
  if (PQtransactionStatus(handle_.get()) != PQTRANS_IDLE) {
    round_ = Round{
        .commands = {{"ROLLBACK"}},
        .then = [why](const Results& /*results*/) -> Outcome { throw std::runtime_error(why); }};
    return send();
  }
  round_.reset();
  results_.clear();
  events.emplace_back(Finished{cluster::Failed{}, address_.without_secrets(std::move(why))});
}

void Session::break_off(std::vector<Event>& events) {
  state_ = State::broken;
  std::string why = error_.value_or(reason_of(*handle_));
  if (why.empty()) why = "the connection is lost";
  events.emplace_back(Broken{address_.without_secrets(std::move(why))});
  round_.reset();
  results_.clear();
}

}  // namespace dutiful::postgres
