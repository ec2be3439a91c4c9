#include "cli/json.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dutiful {
namespace {

TEST(Json, prints_an_array_as_the_whole_document_would_be) {
  auto document = nlohmann::ordered_json::array();
  for (const char* name : {"", "a", "b\xff"}) {
    if (*name != '\0') document.push_back({{"name", name}, {"runs", nullptr}});

    std::ostringstream out;
    ArrayPrinter printer{out};
    for (const auto& element : document) printer.print(element);
    printer.finish();

    EXPECT_EQ(out.str(), to_text(document) + '\n');
  }
}

// V: a terminal shows what programs read.
TEST(Json, shows_no_controls) {
  const nlohmann::ordered_json document{{"name", "a\n\x7f\u009b\u061c\u2028\u202e\u2066é"}};
  EXPECT_EQ(to_text(document), R"({"name":"a\n\u007f\u009b\u061c\u2028\u202e\u2066é"})");
  EXPECT_EQ(nlohmann::ordered_json::parse(to_text(document)), document);
}

}  // namespace
}  // namespace dutiful
