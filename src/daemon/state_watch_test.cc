#include "daemon/state_watch.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace dutiful {
namespace {

TEST(StateWatch, finds_a_state_that_was_removed_or_replaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("state.db");
  StateWatch watch{path};
  EXPECT_EQ(watch.look(), StateFile::in_place);  // it is not taken yet
  std::ofstream{path} << "state";
  watch.begin();
  EXPECT_EQ(watch.look(), StateFile::in_place);
  std::ofstream{path} << "changed";
  EXPECT_EQ(watch.look(), StateFile::in_place);

  // The old file still exists, so the new one cannot have its identity.
  std::filesystem::rename(path, path + "-away");
  EXPECT_EQ(watch.look(), StateFile::removed);
  std::ofstream{path} << "state";
  EXPECT_EQ(watch.look(), StateFile::replaced);
  std::filesystem::rename(path + "-away", path);
  EXPECT_EQ(watch.look(), StateFile::in_place);
}

}  // namespace
}  // namespace dutiful
