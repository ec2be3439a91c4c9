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

}  // namespace
}  // namespace dutiful
