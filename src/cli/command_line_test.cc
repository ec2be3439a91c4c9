#include "cli/command_line.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A program with one command, `bake`, and the words it was given.
struct Bakery {
  std::string what;
  std::optional<std::string> where;
  std::string count = "1";
  std::optional<std::string> shape;
  std::optional<std::string> topping;
  bool quick = false;
  std::string printed{};

  ProgramSyntax syntax{
      .name = "bakery",
      .description = "Bakes.",
      .version = "7",
      .commands = {
          {.name = "bake",
           .description = "Bake something",
           .arguments = {{.name = "WHAT", .description = "What to bake", .target = &what},
                         {.name = "WHERE", .description = "In which oven", .target = &where}},
           .options = {{.name = "--count",
                        .value = "N",
                        .description =
                            "How many, which may be more than the oven holds at one time",
                        .target = &count},
                       {.name = "--shape",
                        .choices = {"round", "square"},
                        .description = "The shape (default: as it comes)",
                        .target = &shape},
                       {.name = "--quick", .description = "Sooner", .target = &quick},
                       {.name = "--topping",
                        .choices = {"poppy_seed", "sunflower_seed"},
                        .description = "What to put on it",
                        .target = &topping}},
           .details = "It is best when eaten on the day that it was baked, and still good enough "
                      "the day after.",
           .example = "bakery bake bread"}}};

  Bakery() = default;
  Bakery(const Bakery&) = delete;

  // The name of the chosen command, or the error.
  std::string read(const std::vector<std::string>& words) try {
    std::ostringstream out;
    const CommandSyntax* command = read_command_line(syntax, words, out);
    printed = out.str();
    return command == nullptr ? "" : command->name;
  } catch (const UsageError& error) {
    return error.what();
  }
};

std::string error_of(std::vector<std::string> words) {
  words.insert(words.begin(), "bake");
  return Bakery{}.read(words);
}

TEST(CommandLine, puts_each_word_where_it_belongs) {
  Bakery bakery;
  EXPECT_EQ(bakery.read({"bake", "--count", "3", "bread", "--shape=round", "--quick", "left"}),
            "bake");
  EXPECT_EQ(bakery.what, "bread");
  EXPECT_EQ(bakery.where, "left");
  EXPECT_EQ(bakery.count, "3");
  EXPECT_EQ(bakery.shape, "round");
  EXPECT_TRUE(bakery.quick);
}

TEST(CommandLine, keeps_the_defaults_of_what_is_not_given) {
  Bakery bakery;
  EXPECT_EQ(bakery.read({"bake", "bread"}), "bake");
  EXPECT_EQ(bakery.where, std::nullopt);
  EXPECT_EQ(bakery.count, "1");
  EXPECT_EQ(bakery.shape, std::nullopt);
  EXPECT_FALSE(bakery.quick);
}

TEST(CommandLine, takes_any_number_of_arguments_where_it_says_so) {
  std::vector<std::string> guests;
  ProgramSyntax syntax{
      .name = "bakery",
      .commands = {{.name = "invite",
                    .description = "Invite guests",
                    .arguments = {{.name = "GUEST", .description = "Who", .target = &guests}}}}};
  std::ostringstream out;
  const std::vector<std::string> words{"invite", "ann", "--", "-bob", "cid"};
  EXPECT_NE(read_command_line(syntax, words, out), nullptr);
  EXPECT_THAT(guests, ElementsAre("ann", "-bob", "cid"));

  guests.clear();
  EXPECT_THROW((void)read_command_line(syntax, std::vector<std::string>{"invite"}, out),
               UsageError);
  EXPECT_EQ(read_command_line(syntax, std::vector<std::string>{"invite", "-h"}, out), nullptr);
  EXPECT_THAT(out.str(), HasSubstr("Usage: bakery invite [OPTIONS] GUEST...\n"));
}

TEST(CommandLine, takes_odd_words_as_arguments) {
  for (const char* word : {"++", "-", "", "=", "%", "bake", "a=b"}) {
    Bakery bakery;
    EXPECT_EQ(bakery.read({"bake", word}), "bake");
    EXPECT_EQ(bakery.what, word);
  }
}

TEST(CommandLine, takes_every_word_after_two_hyphens_as_an_argument) {
  Bakery bakery;
  EXPECT_EQ(bakery.read({"bake", "--quick", "--", "--count", "--"}), "bake");
  EXPECT_EQ(bakery.what, "--count");
  EXPECT_EQ(bakery.where, "--");
  EXPECT_EQ(bakery.count, "1");

  EXPECT_EQ(bakery.read({"bake", "--", "--help"}), "bake");
  EXPECT_EQ(bakery.what, "--help");
}

TEST(CommandLine, takes_the_next_word_or_the_text_after_the_equals_sign_as_a_value) {
  const auto count = [](const std::vector<std::string>& words) {
    Bakery bakery;
    EXPECT_EQ(bakery.read(words), "bake");
    EXPECT_EQ(bakery.what, "bread");
    return bakery.count;
  };
  EXPECT_EQ(count({"bake", "bread", "--count", "-5"}), "-5");
  EXPECT_EQ(count({"bake", "bread", "--count", "-"}), "-");
  EXPECT_EQ(count({"bake", "bread", "--count="}), "");
  EXPECT_EQ(count({"bake", "--count=", "bread"}), "");
  EXPECT_EQ(count({"bake", "bread", "--count", ""}), "");
  EXPECT_EQ(count({"bake", "bread", "--count=a=b"}), "a=b");
  EXPECT_EQ(count({"bake", "bread", "--count=--quick"}), "--quick");
}

TEST(CommandLine, rejects_what_it_does_not_understand_with_a_remedy) {
  EXPECT_EQ(error_of({}), "missing argument WHAT; see bakery bake --help");
  EXPECT_EQ(error_of({"--quick"}), "missing argument WHAT; see bakery bake --help");
  EXPECT_EQ(error_of({"a", "b", "c"}), "unexpected argument \"c\"; see bakery bake --help");
  EXPECT_EQ(error_of({"a", "--count"}), "--count requires a value; write --count N");
  EXPECT_EQ(error_of({"a", "--count", "--quick"}), "--count requires a value; write --count N");
  EXPECT_EQ(error_of({"a", "--count", "--", "3"}), "--count requires a value; write --count N");
  EXPECT_EQ(error_of({"a", "--count=1", "--count", "2"}),
            "--count is given twice, the second time as \"2\"; give it once");
  EXPECT_EQ(error_of({"a", "--shape", "flat"}),
            "--shape: unknown value \"flat\"; write --shape round|square");
  EXPECT_EQ(error_of({"a", "--quick=false"}), "--quick takes no value; remove \"=false\"");
  EXPECT_EQ(error_of({"a", "--quick="}), "--quick takes no value; remove \"=\"");
}

TEST(CommandLine, a_flag_may_be_given_twice) {
  EXPECT_EQ(error_of({"a", "--quick", "--quick"}), "bake");
}

TEST(CommandLine, guesses_which_option_was_meant) {
  EXPECT_EQ(error_of({"--cuont=3"}), "unknown option \"--cuont=3\"; did you mean --count?");
  EXPECT_EQ(error_of({"-quick"}), "unknown option \"-quick\"; did you mean --quick?");
  EXPECT_EQ(error_of({"--help=3"}), "unknown option \"--help=3\"; did you mean --help?");
  EXPECT_EQ(error_of({"--zzzzz"}), "unknown option \"--zzzzz\"; see bakery bake --help");
  EXPECT_EQ(error_of({"-5 * * * *"}),
            "unknown option \"-5 * * * *\"; see bakery bake --help, or write -- before an "
            "argument that begins with a hyphen");
  EXPECT_EQ(error_of({"---"}), "unknown option \"---\"; see bakery bake --help");
}

TEST(CommandLine, says_what_to_do_about_too_many_arguments) {
  Bakery bakery;
  bakery.syntax.commands[0].arguments[1].when_more = "there are two ovens";
  EXPECT_EQ(bakery.read({"bake", "a", "b", "c"}), "unexpected argument \"c\"; there are two ovens");
}

TEST(CommandLine, requires_a_known_command) {
  EXPECT_EQ(Bakery{}.read({}), "missing command; see bakery --help");
  EXPECT_EQ(Bakery{}.read({"boil"}), "unknown command \"boil\"; the commands are bake");
  EXPECT_EQ(Bakery{}.read({"--quick", "bake"}),
            "unknown option \"--quick\"; the command comes first, see bakery --help");
}

TEST(CommandLine, prints_the_version) {
  Bakery bakery;
  EXPECT_EQ(bakery.read({"--version"}), "");
  EXPECT_EQ(bakery.printed, "bakery 7\n");
}

TEST(CommandLine, prints_help_of_the_program) {
  for (const char* word : {"-h", "--help"}) {
    Bakery bakery;
    EXPECT_EQ(bakery.read({word}), "");
    EXPECT_EQ(bakery.printed,
              "Usage: bakery COMMAND [OPTIONS]\n"
              "\n"
              "Bakes.\n"
              "\n"
              "Commands:\n"
              "  bake  Bake something\n"
              "\n"
              "Options:\n"
              "  -h, --help  Print this help and exit\n"
              "  --version   Print the version and exit\n"
              "\n"
              "`bakery COMMAND --help` describes a command.\n");
  }
}

// Even if the rest of the command line is wrong.
TEST(CommandLine, prints_help_of_a_command_wherever_the_option_stands) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"bake", "--help"},
                                                {"bake", "-h"},
                                                {"--help", "bake"},
                                                {"bake", "--bogus", "--help"},
                                                {"bake", "--count", "3", "-h", "a", "b", "c"}}) {
    Bakery bakery;
    EXPECT_EQ(bakery.read(words), "");
    EXPECT_EQ(bakery.printed,
              "Usage: bakery bake [OPTIONS] WHAT [WHERE]\n"
              "\n"
              "Bake something.\n"
              "\n"
              "Arguments:\n"
              "  WHAT   What to bake\n"
              "  WHERE  In which oven\n"
              "\n"
              "Options:\n"
              "  --count N             How many, which may be more than the oven holds at one\n"
              "                        time (default: 1)\n"
              "  --shape round|square  The shape (default: as it comes)\n"
              "  --quick               Sooner\n"
              "  --topping poppy_seed|sunflower_seed\n"
              "                        What to put on it\n"
              "  -h, --help            Print this help and exit\n"
              "\n"
              "It is best when eaten on the day that it was baked, and still good enough the\n"
              "day after.\n"
              "\n"
              "Example:\n"
              "  bakery bake bread\n");
  }
}

}  // namespace
}  // namespace dutiful
