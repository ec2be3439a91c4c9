#include <string>

#include <gtest/gtest.h>

#include <dutiful/version.h>

namespace dutiful {
namespace {

// The build reads DUTIFUL_VERSION; the parts are for the preprocessor.
TEST(Version, is_the_same_as_text_and_in_its_parts) {
  EXPECT_STREQ(version(), DUTIFUL_VERSION);
  EXPECT_EQ(version(),
            std::to_string(DUTIFUL_VERSION_MAJOR) + '.' + std::to_string(DUTIFUL_VERSION_MINOR) +
                '.' + std::to_string(DUTIFUL_VERSION_PATCH));
  EXPECT_STREQ(version(), PROJECT_VERSION);
}

}  // namespace
}  // namespace dutiful
