#include "postgres/connections.h"

#include <exception>
#include <type_traits>
#include <utility>

#include <poll.h>

#include "postgres/resolver.h"
#include "postgres/schema.h"
#include "postgres/session.h"
#include "text/quote.h"

namespace dutiful::postgres {

using cluster::Channel;

Connections::Connections(Options options)
    : options_(std::move(options)), address_(Address::parse(options_.address)) {}

Connections::~Connections() = default;

// Names what the user has written, without the password.
std::string Connections::named(const std::string& why) const {
  const std::string database = address_.get("dbname");
  return "database " + (database.empty() ? "of the user" : quote(database)) + ": " + why;
}

void Connections::connect(Channel channel) {
  link(channel) = {};
  std::erase_if(happened_, [channel](const Happening& happening) {
    return std::visit(
        [channel]<typename What>(const What& what) {
          if constexpr (std::is_same_v<What, Notified>) {
            return false;
          } else {
            return what.channel == channel;
          }
        },
        happening);
  });
  Address address = address_;
  address.set_timeouts(timeouts_of(channel, options_.lease));
  try {
    if (has_names(address)) {
      link(channel).resolver = std::make_unique<Resolver>(std::move(address));
    } else {
      open(channel, std::move(address));
    }
  } catch (const std::exception& error) {
    link(channel) = {};
    happened_.emplace_back(Disconnected{channel, named(error.what())});
    bell_.ring();
  }
}

void Connections::open(Channel channel, Address address) {
  link(channel).session = std::make_unique<Session>(std::move(address));
}

void Connections::set_up(Channel channel) {
  link(channel).session->start(postgres::set_up(
      {.shards = options_.shards,
       .timeouts = timeouts_of(channel, options_.lease),
       .listens = channel == Channel::renewals,
       .learn_shards = [this, channel](std::size_t shards) { link(channel).shards = shards; }}));
}

void Connections::send(Channel channel, cluster::Request request) {
  if (!link(channel).session) return;  // it is lost, which is yet to be taken
  const Context context{.shards = link(channel).shards,
                        .clock = options_.clock ? std::optional{options_.clock()} : std::nullopt,
                        .calendar = &options_.calendar,
                        .override = options_.override,
                        .fold_after = options_.fold_after,
                        .history = options_.history};
  link(channel).session->start(
      std::visit([&](const auto& asked) { return make_round(asked, context); }, request));
}

// One at a time: what the driver does about it may be to make a new connection, and then it must
// not hear any more of the one before.
std::vector<cluster::Connections::Happening> Connections::take() {
  bell_.take();
  for (const Channel channel : {Channel::renewals, Channel::work}) advance(channel);
  std::vector<Happening> happened;
  if (happened_.empty()) return happened;
  happened.push_back(std::move(happened_.front()));
  happened_.pop_front();
  if (!happened_.empty()) bell_.ring();
  return happened;
}

void Connections::advance(Channel channel) {
  Link& self = link(channel);
  const auto disconnect = [&](const std::string& why) {
    self = {};
    happened_.emplace_back(Disconnected{channel, named(why)});
  };
  if (self.resolver && self.resolver->is_done()) {
    auto resolved = self.resolver->take();
    self.resolver.reset();
    if (auto* failed = std::get_if<Resolver::Failed>(&resolved)) return disconnect(failed->why);
    open(channel, std::get<Address>(std::move(resolved)));
  }
  if (!self.session) return;
  for (Session::Event& event : self.session->advance()) {
    if (std::holds_alternative<Session::Opened>(event)) {
      set_up(channel);
    } else if (auto* broken = std::get_if<Session::Broken>(&event)) {
      return disconnect(broken->why);
    } else if (auto* refused = std::get_if<Session::Refused>(&event)) {
      return disconnect(refused->why);
    } else if (std::holds_alternative<Session::Notified>(event)) {
      happened_.emplace_back(Notified{});
    } else if (auto& finished = std::get<Session::Finished>(event); self.is_ready) {
      happened_.emplace_back(
          Answered{channel, std::move(finished.answer), std::move(finished.why)});
    } else if (std::holds_alternative<cluster::Done>(finished.answer)) {
      self.is_ready = true;
      happened_.emplace_back(Connected{channel});
    } else {
      return disconnect(finished.why);
    }
  }
}

void Connections::add_to(std::vector<pollfd>& waiting) const {
  waiting.push_back({.fd = bell_.descriptor(), .events = POLLIN, .revents = 0});
  for (const Link& each : links_) {
    if (each.resolver) each.resolver->add_to(waiting);
    if (each.session) each.session->add_to(waiting);
  }
}

}  // namespace dutiful::postgres
