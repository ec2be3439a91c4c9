#include "faults/disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful::faults {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using Kept = Disk::Kept;

LoggedCall made(Kind kind, std::string file = "a", std::string data = "", std::int64_t offset = 0) {
  return {
      .number = 1,
      .call = {.kind = kind, .file = std::move(file), .offset = offset, .data = std::move(data)}};
}

Disk disk_after(const Files& files, const std::vector<LoggedCall>& calls) {
  Disk disk{files};
  for (const LoggedCall& call : calls) disk.on(call);
  return disk;
}

Files left(const Disk& disk, Kept kept) {
  std::mt19937 random{1};
  return disk.after_cut(kept, random);
}

// Every result that some seed leaves.
std::set<Files> possible(const Disk& disk, Kept kept) {
  std::set<Files> all;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random{seed};
    all.insert(disk.after_cut(kept, random));
  }
  return all;
}

const std::string sector_a(512, 'a');
const std::string sector_b(512, 'b');
const std::string sector_c(512, 'c');
const std::string sector_0(512, '\0');

TEST(Disk, keeps_what_was_synced) {
  const Disk disk = disk_after(
      {},
      {made(Kind::create), made(Kind::write, "a", "new"), made(Kind::sync), made(Kind::sync, ".")});
  EXPECT_TRUE(disk.is_synced());
  for (const Kept kept : {Kept::nothing, Kept::everything, Kept::beginning, Kept::sectors}) {
    EXPECT_THAT(left(disk, kept), ElementsAre(Pair("a", "new")));
  }
}

TEST(Disk, may_lose_what_was_not_synced) {
  const Disk disk = disk_after({{"a", "old"}}, {made(Kind::write, "a", "new")});
  EXPECT_FALSE(disk.is_synced());
  EXPECT_THAT(left(disk, Kept::nothing), ElementsAre(Pair("a", "old")));
  EXPECT_THAT(left(disk, Kept::everything), ElementsAre(Pair("a", "new")));
  for (const Kept kept : {Kept::beginning, Kept::sectors}) {
    EXPECT_THAT(possible(disk, kept),
                UnorderedElementsAre(Files{{"a", "old"}}, Files{{"a", "new"}}));
  }
}

TEST(Disk, may_lose_a_name_even_if_its_file_is_synced) {
  const Disk disk =
      disk_after({}, {made(Kind::create), made(Kind::write, "a", "new"), made(Kind::sync)});
  EXPECT_THAT(left(disk, Kept::nothing), IsEmpty());
  EXPECT_THAT(possible(disk, Kept::sectors), UnorderedElementsAre(Files{}, Files{{"a", "new"}}));
}

TEST(Disk, may_keep_a_name_that_was_removed) {
  const Disk disk = disk_after(
      {{"a", "old"}},
      {made(Kind::unlink), made(Kind::create), made(Kind::write, "a", "new"), made(Kind::sync)});
  EXPECT_THAT(left(disk, Kept::nothing), ElementsAre(Pair("a", "old")));
  EXPECT_THAT(possible(disk, Kept::sectors),
              UnorderedElementsAre(Files{}, Files{{"a", "old"}}, Files{{"a", "new"}}));
}

TEST(Disk, knows_a_renamed_file) {
  const Disk disk = disk_after({{"a", "old"}, {"b", "other"}},
                               {made(Kind::rename, "a", "b"), made(Kind::sync, ".")});
  EXPECT_THAT(left(disk, Kept::nothing), ElementsAre(Pair("b", "old")));
}

TEST(Disk, writes_sectors_in_any_order) {
  const Disk disk =
      disk_after({{"a", sector_a + sector_a}},
                 {made(Kind::write, "a", sector_b, 0), made(Kind::write, "a", sector_c, 512)});
  EXPECT_THAT(possible(disk, Kept::sectors),
              UnorderedElementsAre(Files{{"a", sector_a + sector_a}},
                                   Files{{"a", sector_b + sector_a}},
                                   Files{{"a", sector_a + sector_c}},
                                   Files{{"a", sector_b + sector_c}}));
  EXPECT_THAT(possible(disk, Kept::beginning),
              UnorderedElementsAre(Files{{"a", sector_a + sector_a}},
                                   Files{{"a", sector_b + sector_a}},
                                   Files{{"a", sector_b + sector_c}}));
}

TEST(Disk, never_writes_a_part_of_a_sector) {
  const Disk disk = disk_after({{"a", sector_a}}, {made(Kind::write, "a", "bb", 10)});
  std::string written = sector_a;
  written.replace(10, 2, "bb");
  EXPECT_THAT(possible(disk, Kept::sectors),
              UnorderedElementsAre(Files{{"a", sector_a}}, Files{{"a", written}}));
}

TEST(Disk, may_grow_a_file_without_filling_it) {
  const Disk disk = disk_after({{"a", sector_a}}, {made(Kind::write, "a", sector_b, 512)});
  const auto all = possible(disk, Kept::sectors);
  EXPECT_THAT(all, Contains(Files{{"a", sector_a + sector_0}}));
  EXPECT_THAT(all, Contains(Files{{"a", sector_a}}));
  EXPECT_THAT(all, Contains(Files{{"a", sector_a + sector_b}}));
}

TEST(Disk, may_keep_what_was_cut_off) {
  const Disk disk = disk_after({{"a", "abcd"}}, {made(Kind::truncate, "a", "", 2)});
  EXPECT_THAT(left(disk, Kept::everything), ElementsAre(Pair("a", "ab")));
  EXPECT_THAT(possible(disk, Kept::sectors),
              Each(AnyOf(Files{{"a", "abcd"}}, Files{{"a", "ab"}}, Files{{"a", {"ab\0\0", 4}}})));
}

TEST(Disk, ignores_calls_that_failed) {
  LoggedCall call = made(Kind::write, "a", "new");
  call.succeeded = false;
  EXPECT_TRUE(disk_after({{"a", "old"}}, {call}).is_synced());
}

TEST(Disk, loses_nothing_of_files_that_lie_elsewhere) {
  Disk disk{{}, {"a"}};
  disk.on(made(Kind::create));
  disk.on(made(Kind::write, "a", "new"));
  EXPECT_THAT(left(disk, Kept::nothing), ElementsAre(Pair("a", "new")));
}

}  // namespace
}  // namespace dutiful::faults
