#include "commands/command_input.h"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace dutiful {
namespace {

std::string read_all(const Descriptor& file) {
  std::string text;
  std::array<char, 4096> chunk{};
  ssize_t size = 0;
  while ((size = read(file.get(), chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(size));
  }
  return text;
}

TEST(CommandInput, is_the_text_and_then_ends) {
  const std::string all = std::string(100'000, 'x') + std::string{"\0\n\xff", 3};
  EXPECT_EQ(read_all(input_of(all)), all);
  EXPECT_EQ(read_all(input_of("")), "");
}

TEST(CommandInput, cannot_be_changed) {
  const Descriptor file = input_of("a");
  EXPECT_EQ(write(file.get(), "b", 1), -1);
  EXPECT_EQ(ftruncate(file.get(), 0), -1);
  EXPECT_EQ(read_all(file), "a");
}

}  // namespace
}  // namespace dutiful
