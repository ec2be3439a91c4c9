#include "commands/command_inbox.h"

#include <utility>

namespace dutiful {

void CommandInbox::put(CommandOrder order) {
  order.counted = LiveCount::Member{live_};
  {
    const Lock lock{mutex_};
    (order.beside ? beside_ : orders_).push_back(std::move(order));
  }
  bell_.ring();
}

void CommandInbox::open() {
  {
    const Lock lock{mutex_};
    is_open_ = true;
  }
  bell_.ring();
}

void CommandInbox::end_all() {
  {
    const Lock lock{mutex_};
    requests_.end_all = true;
  }
  bell_.ring();
}

void CommandInbox::quit() {
  {
    const Lock lock{mutex_};
    requests_.quit = true;
  }
  bell_.ring();
}

void CommandInbox::put_overdue(Serial serial) noexcept {
  {
    const Lock lock{mutex_};
    overdue_.push_back(serial);
  }
  bell_.ring();
}

CommandInbox::Requests CommandInbox::requests() const {
  const Lock lock{mutex_};
  return requests_;
}

std::optional<CommandOrder> CommandInbox::next_order() {
  const Lock lock{mutex_};
  std::deque<CommandOrder>& orders = orders_.empty() ? beside_ : orders_;
  if (orders.empty() || (!is_open_ && !requests_.end_all)) return std::nullopt;
  std::optional<CommandOrder> order{std::move(orders.front())};
  orders.pop_front();
  return order;
}

const std::vector<Serial>& CommandInbox::take_overdue() {
  overdue_taken_.clear();
  const Lock lock{mutex_};
  overdue_taken_.swap(overdue_);
  return overdue_taken_;
}

void CommandInbox::reserve_overdue(std::size_t runs) {
  const Lock lock{mutex_};
  for (std::vector<Serial>* list : {&overdue_, &overdue_taken_}) {
    if (list->capacity() < runs) list->reserve(2 * runs);
  }
}

}  // namespace dutiful
