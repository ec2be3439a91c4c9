// Tests use the zone files in tests/data, independent of the host.

#include <cstdlib>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  setenv("TZDIR", DUTIFUL_TEST_DATA "/zoneinfo", 1);
  setenv("TZ", "UTC", 1);
  setenv("RC_PARAMS", "max_success=1000", 0);  // rapidcheck's own default is 100 cases a property
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
