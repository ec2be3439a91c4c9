#include "faults/fault.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

namespace dutiful::faults {
namespace {

using Deed = Fault::Deed;
using Scope = Fault::Scope;

constexpr std::array<std::pair<std::string_view, Deed>, 4> deeds{
    {{"kill-before", Deed::kill_before},
     {"kill-within", Deed::kill_within},
     {"kill-after", Deed::kill_after},
     {"short", Deed::shorten}}};
constexpr std::array<std::pair<std::string_view, int>, 7> errors{{{"EIO", EIO},
                                                                  {"ENOSPC", ENOSPC},
                                                                  {"ENOLCK", ENOLCK},
                                                                  {"EAGAIN", EAGAIN},
                                                                  {"EINTR", EINTR},
                                                                  {"EMFILE", EMFILE},
                                                                  {"EPERM", EPERM}}};
}  // namespace

std::string to_text(const Fault& fault) {
  std::string text = std::to_string(fault.at);
  if (fault.scope == Scope::file) text += '+';
  if (fault.scope == Scope::disk) text += '*';
  text += ':';
  for (const auto& [name, deed] : deeds) {
    if (deed == fault.deed) return text.append(name);
  }
  for (const auto& [name, error] : errors) {
    if (error == fault.error) return text.append(name);
  }
  return text.append(std::to_string(fault.error));
}

std::optional<Fault> parse_fault(const std::string& text) {
  Fault fault;
  std::string_view rest = text;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), fault.at);
  if (bad != std::errc{} || fault.at == 0) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (rest.starts_with('+') || rest.starts_with('*')) {
    fault.scope = rest.front() == '+' ? Scope::file : Scope::disk;
    rest.remove_prefix(1);
  }
  if (!rest.starts_with(':')) return std::nullopt;
  rest.remove_prefix(1);
  for (const auto& [name, deed] : deeds) {
    if (name != rest) continue;
    if (fault.scope != Scope::once) return std::nullopt;
    fault.deed = deed;
    return fault;
  }
  for (const auto& [name, error] : errors) {
    if (name != rest) continue;
    fault.error = error;
    return fault;
  }
  return std::nullopt;
}

bool reaches_disk(Kind kind, int error) {
  switch (kind) {
    case Kind::create:
    case Kind::write:
      return true;
    case Kind::open:
    case Kind::read:
    case Kind::truncate:  // only makes files smaller here
    case Kind::sync:
    case Kind::unlink:
    case Kind::rename:
      return error != ENOSPC;
    default:
      return false;
  }
}

}  // namespace dutiful::faults
