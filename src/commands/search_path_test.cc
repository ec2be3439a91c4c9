#include "commands/search_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful {
namespace {

using testing::ElementsAre;

TEST(SearchPath, is_not_used_for_a_program_with_a_slash) {
  EXPECT_THAT(places_of("/bin/true", {{"PATH", "/usr/bin"}}), ElementsAre("/bin/true"));
  EXPECT_THAT(places_of("bin/true", {{"PATH", "/usr/bin"}}), ElementsAre("bin/true"));
}

TEST(SearchPath, is_that_of_the_command_in_its_order) {
  EXPECT_THAT(places_of("true", {{"PATH", "/usr/bin:bin"}}),
              ElementsAre("/usr/bin/true", "bin/true"));
}

TEST(SearchPath, takes_an_empty_part_for_the_current_directory) {
  EXPECT_THAT(places_of("true", {{"PATH", ":/bin:"}}),
              ElementsAre("./true", "/bin/true", "./true"));
  EXPECT_THAT(places_of("true", {{"PATH", ""}}), ElementsAre("./true"));
}

TEST(SearchPath, has_a_default) {
  EXPECT_THAT(places_of("true", {}),
              ElementsAre("/usr/local/bin/true", "/usr/bin/true", "/bin/true"));
}

}  // namespace
}  // namespace dutiful
