// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The JSON report keeps its agreement: these keys, with these meanings.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "report/formats.h"
#include "samples.h"
#include "tests/support/filled_findings.h"

namespace culprit::report {
namespace {

nlohmann::json parsed(const blame::Findings& findings) {
  return nlohmann::json::parse(json(findings, "experiment"));
}

TEST(Json, HasTheAgreedKeys) {
  const auto object = parsed(every_field());
  for (const char* key : {"command", "ranks", "locations", "wall_s", "overhead_pct"}) {
    EXPECT_TRUE(object.at("run").contains(key)) << key;
  }
  for (const char* key :
       {"waiting_s", "delay_costs_s", "unattributed_s", "critical_path_s", "wall_s"}) {
    EXPECT_TRUE(object.at("identities").at(key).is_number()) << key;
  }
  for (const char* key : {"pattern", "callpath", "location", "count", "time_s"}) {
    EXPECT_TRUE(object.at("waits").at(0).contains(key)) << key;
  }
  for (const char* key : {"callpath", "location", "pattern", "short_s", "long_s"}) {
    EXPECT_TRUE(object.at("delays").at(0).contains(key)) << key;
  }
  for (const char* key : {"callpath", "time_s", "imbalance_s"}) {
    EXPECT_TRUE(object.at("critical_path").at(0).contains(key)) << key;
  }
  for (const char* key : {"name", "count", "severity", "advice"}) {
    EXPECT_TRUE(object.at("losses").at(0).contains(key)) << key;
  }
}

/// What JSON calls a table; "" for one that it has not, or makes something else of.
std::string_view key_of(std::string_view table) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"callpaths", ""},      {"stuck", ""},
      {"stuck_helpers", ""},  {"critical_callpaths", "performance_impacts"},
      {"profile", ""},        {"metrics", ""},
      {"critical_path", ""},  {"segments", ""},
      {"passes", ""},         {"instances", "worst_waits"},
      {"counts", "counters"}, {"location_times", ""},
      {"callpath_times", ""}, {"model_terms", ""},
      {"model_leads", ""}};
  for (const auto& [name, key] : kOthers) {
    if (name == table) return key;
  }
  return table;
}

TEST(Json, HasEachFieldOfARowWithItsValue) {
  const blame::Findings findings = testing_support::FindingsFiller(0).fill();
  const auto object = parsed(findings);
  const auto expect_fields = [&]<class Row>(const std::vector<Row>& rows) {
    const std::string key(key_of(blame::Table<Row>::kName));
    if (key.empty()) return;
    ASSERT_EQ(object.at(key).size(), rows.size()) << key;
    blame::Table<Row>::columns(rows[1], [&](const auto& column, const auto& field) {
      if (key == "performance_impacts" && column.name == "time_s") return;  // is in critical_path
      ASSERT_TRUE(object.at(key)[1].contains(column.key)) << key << " " << column.key;
      const auto& value = object.at(key)[1].at(std::string(column.key));
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(field)>>) {
        EXPECT_EQ(value, field) << key << " " << column.key;
      } else if constexpr (Word<std::remove_cvref_t<decltype(field)>>) {
        EXPECT_EQ(value, to_string(field)) << key << " " << column.key;
      } else {
        EXPECT_FALSE(value.is_null()) << key << " " << column.key;
      }
    });
  };
  blame::visit_lists(expect_fields, findings);
}

TEST(Json, NamesLocationsPathsAndPatterns) {
  const auto object = parsed(hybrid_chain());
  const auto& delay = object["delays"][0];
  EXPECT_EQ(delay["callpath"], "main/!$omp parallel @chain.c:20");
  EXPECT_EQ(delay["location"], "0.1");
  EXPECT_EQ(delay["pattern"], "omp.barrier");
  EXPECT_EQ(delay["short_s"], 6.0);
  EXPECT_EQ(delay["long_s"], 5.25);
  EXPECT_EQ(object["waits"].size(), 4u);
  EXPECT_EQ(object["waits"][0]["count"], 1);
  EXPECT_EQ(object["critical_path"].size(), 3u);
  EXPECT_EQ(object["run"]["locations"], 3);
}

TEST(Json, AnEmptyResultIsStillAnObjectWithLists) {
  const auto object = parsed({});
  for (const char* key : {"waits", "delays", "critical_path", "losses"}) {
    EXPECT_TRUE(object.at(key).is_array()) << key;
    EXPECT_TRUE(object.at(key).empty()) << key;
  }
  EXPECT_TRUE(object["run"]["overhead_pct"].is_null());
}

TEST(Json, SurvivesNamesThatAreNotText) {
  blame::Findings findings = hybrid_chain();
  findings.callpaths[0].name = "bad \xff byte \"quoted\"\n";
  EXPECT_NO_THROW(parsed(findings));
}

}  // namespace
}  // namespace culprit::report
