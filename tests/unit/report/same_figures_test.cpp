// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A figure that stands in several outputs is the same in all of them, in every picture: in the
// first screen, the whole page, JSON, the data of the browser's page, and exports.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "blame/analyze.h"
#include "report/exports/figures.h"
#include "report/formats.h"
#include "report/page_data/pack.h"
#include "report/words/layout.h"
#include "tests/support/pictures.h"
#include "tests/support/text/text.h"

namespace culprit::report {
namespace {

using Json = nlohmann::json;

constexpr double kRounding = 1e-9;

/// Lines break anywhere between words.
std::string flat(const std::string& page) {
  std::string words;
  std::istringstream stream(page);
  for (std::string word; stream >> word;) words += word + ' ';
  return words;
}

/// The data of the page: its head, and columns of times.
struct PageData {
  explicit PageData(const std::string& bytes) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    head = Json::parse(bytes.substr(sizeof length, length));
    columns = bytes.substr(sizeof length + length);
  }
  double sum(const char* table, const char* column) const {
    const Json& where = head["tables"][table]["columns"][column];
    double sum = 0;
    for (size_t row = 0; row < head["tables"][table]["rows"].get<size_t>(); ++row) {
      double value = 0;
      std::memcpy(&value, columns.data() + where["at"].get<size_t>() + row * sizeof value,
                  sizeof value);
      sum += value;
    }
    return sum;
  }
  Json head;
  std::string columns;
};

double sum_of(const Json& rows, std::initializer_list<const char*> columns) {
  double sum = 0;
  for (const Json& row : rows) {
    for (const char* const column : columns) sum += row[column].get<double>();
  }
  return sum;
}

double exported(const blame::Findings& findings, FigureId figure) {
  double sum = 0;
  each_value(findings, figure, [&](CallPathId, LocationId, double value) { sum += value; });
  return sum;
}

double tile_time(const Json& tiles, std::string_view which) {
  double sum = 0;
  for (const Json& row : tiles) sum += row["tile"] == which ? row["time_s"].get<double>() : 0;
  return sum;
}

double efficiency_in(const Json& all) {
  for (const Json& row : all["efficiencies"]) {
    if (row["name"] == "parallel") return row["value"];
  }
  return -1;
}

class FigureInPicture : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream file(std::filesystem::path(PICTURES) / (GetParam() + ".txt"));
    const std::string drawing((std::istreambuf_iterator<char>(file)), {});
    const auto picture = trace::TextTrace::parse(drawing);
    ASSERT_TRUE(picture.ok()) << picture.error().sentence;
    auto analyzed = blame::analyze(**picture, {.threads = 1}, {});
    ASSERT_TRUE(analyzed.ok()) << analyzed.error().sentence;
    found_ = std::move(analyzed).value();
    all_ = Json::parse(json(found_, {}));
  }
  blame::Findings found_;
  Json all_;
};

TEST_P(FigureInPicture, SumsAreTheSameInAllOutputs) {
  const PageData page(pack_page(found_, nullptr));
  const double waiting_s = all_["identities"]["waiting_s"];
  EXPECT_NEAR(sum_of(all_["waits"], {"time_s"}), waiting_s, kRounding);
  EXPECT_NEAR(page.sum("waits", "time_s"), waiting_s, kRounding);
  EXPECT_NEAR(exported(found_, FigureId::waiting), waiting_s, kRounding);
  const double costs_s = all_["identities"]["delay_costs_s"];
  EXPECT_NEAR(sum_of(all_["delays"], {"short_s", "long_s"}), costs_s, kRounding);
  EXPECT_NEAR(page.sum("delays", "short_s") + page.sum("delays", "long_s"), costs_s, kRounding);
  EXPECT_NEAR(exported(found_, FigureId::delay), costs_s, kRounding);
  EXPECT_NEAR(page.sum("tiles", "time_s"), sum_of(all_["tiles"], {"time_s"}), kRounding);
  EXPECT_NEAR(page.sum("critical_path", "time_s"), exported(found_, FigureId::critical), kRounding);
  if (waiting_s <= 0) return;
  const blame::Proportion share = blame::Proportion::by_itself(waiting_s / found_.run.allocation_s);
  const TimeFormat time(found_.run.wall_s);
  EXPECT_NE(flat(text(found_, {})).find(time(waiting_s) + " (" + percent(share) + ") was waiting"),
            std::string::npos);
}

TEST_P(FigureInPicture, TheVerdictIsTheSameInAllOutputs) {
  const PageData page(pack_page(found_, nullptr));
  const Json& verdict = all_["verdict"];
  EXPECT_EQ(page.head["verdict"], verdict);
  const std::string sentence = flat(verdict["text"]);
  EXPECT_NE(flat(text(found_, {})).find(sentence), std::string::npos);
  EXPECT_NE(flat(screen(found_, {})).find(sentence), std::string::npos);
}

// The bar of the page adds up tiles; what the efficiency calls useful is one of them.
TEST_P(FigureInPicture, TheEfficiencyIsThatOfTheUsefulTile) {
  const double efficiency = efficiency_in(all_);
  if (efficiency < 0) return;
  const double useful_s = tile_time(all_["tiles"], "useful");
  double threads_s = 0;
  for (const Json& row : all_["tiles"]) threads_s += row["time_s"].get<double>();
  EXPECT_GE(efficiency, useful_s / threads_s - kRounding);
  const blame::StartUp& start_up = found_.start_up;
  const double own_s = threads_s - start_up.activity_s - start_up.waiting_s;
  if (own_s > useful_s) EXPECT_LE(efficiency, useful_s / own_s + kRounding);
  const std::string shown =
      "Efficiency: " + percent(blame::Proportion::by_itself(efficiency)) + " of the threads' time";
  const Json& kind = all_["verdict"]["kind"];
  if (kind == "failed" || kind == "stuck") return;
  EXPECT_NE(flat(screen(found_, {})).find(shown), std::string::npos) << screen(found_, {});
}

INSTANTIATE_TEST_SUITE_P(All, FigureInPicture, testing::ValuesIn(testing_support::all_pictures()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace culprit::report
