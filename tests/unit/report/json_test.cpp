// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The JSON report keeps its agreement: these keys, with these meanings.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/formats.h"
#include "samples.h"

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
