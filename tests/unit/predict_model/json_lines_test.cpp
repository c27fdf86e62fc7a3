// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "predict/model/measurements.h"
#include "predict/model/model_runs.h"

namespace culprit::predict {
namespace {

std::string lines(const char* metric) {
  std::string text;
  for (const double p : {2.0, 4.0, 8.0, 16.0, 32.0}) {
    text += fmt::format(
        R"({{"params":{{"p":{0},"q":3}},"callpath":"main->a-&gt;b","metric":"{1}","value":[{2},{2}]}})"
        "\n\n",
        p, metric, 1 + p);
  }
  return text;
}

TEST(JsonLines, AreReadAndWritten) {
  const auto read = read_json_lines(lines("time"));
  ASSERT_TRUE(read) << read.error().sentence;
  ASSERT_EQ(read->parameters, std::vector<std::string>{"p"});  // q never changes
  ASSERT_EQ(read->series.size(), 1u);
  EXPECT_EQ(read->series[0].samples.size(), 5u);
  EXPECT_EQ(read->series[0].samples[4].values, (std::vector<double>{33, 33}));
  EXPECT_EQ(read->callpaths[read->series[0].callpath.index()].region, "a->b");
  const auto again = read_json_lines(write_json_lines(*read));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->series[0].samples[4].values, (std::vector<double>{33, 33}));
  EXPECT_EQ(again->callpaths[1].name, "main/a->b");
  const auto found = model_runs(*read, {{{"p", 64}}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->models[0].formula, "1 + 1 * p");
  EXPECT_NEAR(found->models[0].expected, 65, 1e-6);
}

TEST(JsonLines, LeaveOutFiguresThatCannotBeTold) {
  // "a" has both lines, "b" changes p and q together.
  std::string text;
  for (int i = 1; i <= 5; ++i) {
    const auto line = [&](int p, int q, const char* metric) {
      text += R"({"params":{"p":)" + std::to_string(p) + R"(,"q":)" + std::to_string(q) +
              R"(},"metric":")" + metric + "\",\"value\":1}\n";
    };
    line(i, 1, "a");
    if (i > 1) line(1, i, "a");
    line(i, i, "b");
  }
  const auto read = read_json_lines(text);
  ASSERT_TRUE(read.ok()) << read.error().sentence;
  ASSERT_EQ(read->series.size(), 1u);
  EXPECT_EQ(read->series.front().metric, "a");
  EXPECT_EQ(read->left_out, 1u);
}

TEST(JsonLines, AreRefusedInASentence) {
  const auto error = [](const std::string& text) {
    const auto read = read_json_lines(text);
    return read ? "" : read.error().sentence;
  };
  EXPECT_NE(error("").find("empty"), std::string::npos);
  for (const char* wrong :
       {"no", "{}", "[1]", R"({"params":{"p":"x"},"value":1})", R"({"params":{"p":1},"value":"x"})",
        R"({"params":{"p":1},"value":[]})", R"({"params":{},"value":1})",
        R"({"params":{"p":1},"value":[1,"x"]})", R"({"params":{"p":1},"callpath":3,"value":1})"}) {
    EXPECT_NE(error(wrong).find("line 1 "), std::string::npos) << wrong << ": " << error(wrong);
  }
  const std::string two = R"({"params":{"p":1},"value":1})"
                          "\n"
                          R"({"params":{"p":1,"q":2},"value":1})";
  EXPECT_NE(error(two).find("line 2 "), std::string::npos);
  EXPECT_NE(error(R"({"params":{"p":1},"value":1})").find("do not differ"), std::string::npos);
}

}  // namespace
}  // namespace culprit::predict
