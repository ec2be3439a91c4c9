// page_world WORLD DIRECTORY: makes one of the worlds in an existing directory, and prints the
// instant at which a daemon should continue it. A world is the same each time it is made.

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>

#include "page/world/worlds.h"
#include "time/iso8601.h"

namespace dutiful::page_world {

Instant at(std::string_view text) {
  const auto timestamp = parse_timestamp(text);
  if (!timestamp || !timestamp->offset) throw std::invalid_argument(std::string{text});
  return timestamp->instant(*timestamp->offset);
}

}  // namespace dutiful::page_world

int main(int argc, char** argv) {
  using namespace dutiful::page_world;
  const std::map<std::string_view, dutiful::Instant (*)(const std::string&)> worlds{
      {"shop", make_shop},
      {"spring", make_spring},
      {"autumn", make_autumn},
      {"hostile", make_hostile},
      {"ten_thousand", make_ten_thousand},
  };
  const auto world = argc == 3 ? worlds.find(argv[1]) : worlds.end();
  if (world == worlds.end()) {
    (void)std::fprintf(stderr,
                       "usage: page_world shop|spring|autumn|hostile|ten_thousand DIRECTORY\n");
    return 2;
  }
  try {
    (void)std::printf("%s\n", dutiful::format_utc(world->second(argv[2])).c_str());
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "page_world: %s\n", error.what());
    return 1;
  }
  return 0;
}
