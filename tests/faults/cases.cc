#include "faults/cases.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <random>
#include <string>

namespace dutiful::faults {
namespace {

using Deed = Fault::Deed;
using Scope = Fault::Scope;

// How such a call may fail and keep failing.
std::vector<int> errors_of(Kind kind) {
  switch (kind) {
    case Kind::open:
      return {EIO, EMFILE};
    case Kind::create:
      return {EIO, ENOSPC, EMFILE};
    case Kind::write:
    case Kind::sync:
      return {EIO, ENOSPC};
    case Kind::lock:
    case Kind::unlock:
      return {ENOLCK};
    case Kind::unlink:
      return {EIO, EPERM};
    case Kind::said:
      return {};
    default:
      return {EIO};
  }
}

// Temporary errors: a retry succeeds.
std::vector<int> passing_errors_of(Kind kind) {
  switch (kind) {
    case Kind::open:
    case Kind::create:
    case Kind::read:
    case Kind::write:
    case Kind::truncate:
      return {EINTR};
    case Kind::lock:
      return {EAGAIN};
    default:
      return {};
  }
}

bool moves_bytes(const Call& call) {
  return (call.kind == Kind::read || call.kind == Kind::write) && call.size > 1;
}

void add(const LoggedCall& logged, Family family, std::vector<Fault>& faults) {
  const Call& call = logged.call;
  const std::uint64_t at = logged.number;
  const auto fail = [&](int error, Scope scope) {
    faults.push_back({.at = at, .deed = Deed::fail, .scope = scope, .error = error});
  };
  switch (family) {
    case Family::kill:
      faults.push_back({.at = at, .deed = Deed::kill_before});
      if (call.kind == Kind::write && moves_bytes(call)) {
        faults.push_back({.at = at, .deed = Deed::kill_within});
      }
      faults.push_back({.at = at, .deed = Deed::kill_after});
      break;
    case Family::once:
      for (const int error : errors_of(call.kind)) fail(error, Scope::once);
      for (const int error : passing_errors_of(call.kind)) fail(error, Scope::once);
      if (moves_bytes(call)) faults.push_back({.at = at, .deed = Deed::shorten});
      break;
    case Family::keep:
      for (const int error : errors_of(call.kind)) fail(error, Scope::file);
      for (const int error : {EIO, ENOSPC}) {
        if (reaches_disk(call.kind, error)) fail(error, Scope::disk);
      }
      break;
  }
}

}  // namespace

std::vector<Fault> faults_of(Family family, const std::vector<LoggedCall>& log) {
  std::vector<Fault> faults;
  for (const LoggedCall& logged : log) {
    if (logged.call.kind != Kind::said) add(logged, family, faults);
  }
  return faults;
}

std::vector<Fault> sample(const std::vector<Fault>& faults,
                          const std::vector<LoggedCall>& log,
                          std::size_t count,
                          std::uint32_t seed) {
  std::map<std::uint64_t, const Call*> calls;
  for (const LoggedCall& logged : log) calls[logged.number] = &logged.call;
  std::map<std::string, std::vector<Fault>> groups;
  for (const Fault& fault : faults) {
    const Call& call = *calls.at(fault.at);
    const std::string text = to_text(fault);
    const std::string deed = text.substr(text.find_first_not_of("0123456789"));
    groups[std::string{name_of(call.kind)} + ' ' + call.file + ' ' + deed].push_back(fault);
  }

  // Takes one at random from each group, round by round.
  std::mt19937 random{seed};
  std::vector<std::vector<Fault>> rest;
  for (auto& [name, group] : groups) rest.push_back(std::move(group));
  std::vector<Fault> taken;
  while (!rest.empty()) {
    // If the last round is incomplete, its groups are random.
    for (std::size_t i = rest.size(); i > 1; --i) std::swap(rest[i - 1], rest[random() % i]);
    for (std::vector<Fault>& group : rest) {
      if (taken.size() == count) return taken;
      const std::size_t place = random() % group.size();
      taken.push_back(group[place]);
      group.erase(group.begin() + static_cast<std::ptrdiff_t>(place));
    }
    std::erase_if(rest, [](const std::vector<Fault>& group) { return group.empty(); });
  }
  return taken;
}

}  // namespace dutiful::faults
