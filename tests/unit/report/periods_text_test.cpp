// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What people and programs are told of periods: a figure only where there is one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/json/periods_json.h"
#include "report/text_page/periods.h"

namespace culprit::report {
namespace {

using blame::FoundPeriod;
using blame::Periodicity;
using blame::SeriesKind;

FoundPeriod periodic() {
  FoundPeriod row;
  row.series = SeriesKind::bytes_written;
  row.source = blame::SeriesSource::trace;
  row.step_s = 0.001;
  row.verdict = Periodicity::periodic;
  row.period_s = 0.25;
  row.deviation_s = 0.002;
  row.confidence = 0.97;
  row.chance = 1e-6;
  row.phases = 12;
  row.phase_s = 0.01;
  row.begin_s = 0.5;
  row.end_s = 3.25;
  row.next_s = 3.5;
  row.next_early_s = 3.496;
  row.next_late_s = 3.504;
  return row;
}

FoundPeriod without(SeriesKind series, Periodicity verdict) {
  FoundPeriod row;
  row.series = series;
  row.verdict = verdict;
  row.step_s = 0.001;
  return row;
}

bool has(const std::string& text, std::string_view words) {
  std::string line;  // wherever it was broken
  for (const char c : text) {
    if (c != '\n' && (c != ' ' || line.empty() || line.back() != ' ')) line += c;
    if (c == '\n' && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line.find(words) != line.npos;
}

TEST(PeriodsText, APeriodHasItsFigures) {
  const std::string text = periods_section({periodic()});
  EXPECT_TRUE(has(text, "bytes-written every 250 ms (standard deviation 2 ms), 12 phases of 10 ms"))
      << text;
  EXPECT_TRUE(has(text, "confidence 97 %.")) << text;
  EXPECT_TRUE(has(text, "Next phase: 3.5000 s (3.4960 to 3.5040 s).")) << text;
  EXPECT_TRUE(has(text, "periods shorter than 4 ms are not seen")) << text;
  EXPECT_FALSE(has(text, "did not come")) << text;
  EXPECT_TRUE(has(period_line(periodic(), 3.3), "next phase at 3.5000 s, in 200 ms"));
}

TEST(PeriodsText, WithoutAPeriodThereIsNoFigure) {
  const std::string text = periods_section({without(SeriesKind::io, Periodicity::aperiodic),
                                            without(SeriesKind::mpi, Periodicity::too_few),
                                            without(SeriesKind::waiting, Periodicity::steady)});
  EXPECT_TRUE(has(text, "io aperiodic")) << text;
  EXPECT_TRUE(has(text, "mpi fewer than four phases")) << text;
  EXPECT_TRUE(has(text, "waiting no phases")) << text;
  EXPECT_FALSE(has(text, "every")) << text;
  EXPECT_FALSE(has(text, "confidence")) << text;
  EXPECT_EQ(periods_section({}), "");
  const auto json =
      nlohmann::json::parse(periods_json({without(SeriesKind::io, Periodicity::aperiodic)}));
  const auto& row = json["periods"][0];
  for (const char* key :
       {"period_s", "deviation_s", "phase_s", "next_s", "next_early_s", "next_late_s"}) {
    EXPECT_TRUE(row[key].is_null()) << key;
  }
  EXPECT_EQ(row["verdict"], "aperiodic");
}

TEST(PeriodsText, ChangesStandTogether) {
  FoundPeriod before = periodic(), after = periodic();
  before.verdict = after.verdict = Periodicity::changing;
  before.next_s = before.next_early_s = before.next_late_s = -1;
  after.period_s = 0.5;
  after.missed = 2;
  after.interruptions = 1;
  const std::string text = periods_section({before, after});
  EXPECT_TRUE(has(text, "the period changes: every 250 ms")) << text;
  EXPECT_TRUE(has(text, "Then every 500 ms")) << text;
  EXPECT_TRUE(has(text, "2 phases did not come. 1 interruption. Next phase")) << text;
  EXPECT_EQ(text.find("bytes-written"), text.rfind("bytes-written")) << text;
}

TEST(PeriodsText, FollowersGetALine) {
  const std::string line = periods_json({periodic()}, 3.3);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(nlohmann::json::parse(line)["now_s"], 3.3);
}

}  // namespace
}  // namespace culprit::report
