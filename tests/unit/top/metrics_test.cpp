// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The text for Prometheus: what its format allows, the right figures, and never too many series.
#include "cli/top/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "sample.h"

namespace culprit::cli {
namespace {

/// Series by their text up to the value; every line is one, or a comment.
std::map<std::string, double> series_of(const std::string& text) {
  static const std::regex kSeries(
      R"re((culprit_[a-z_]+\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)+\}) (\S+))re");
  std::map<std::string, double> series;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# HELP culprit_") || line.starts_with("# TYPE culprit_")) continue;
    std::smatch parts;
    const bool known = std::regex_match(line, parts, kSeries);
    EXPECT_TRUE(known) << line;
    if (known) EXPECT_TRUE(series.emplace(parts[1], std::stod(parts[4])).second) << line;
  }
  EXPECT_TRUE(text.ends_with('\n'));
  return series;
}

double value_of(const std::map<std::string, double>& series, const std::string& name,
                const std::string& label = "") {
  for (const auto& [key, value] : series) {
    if (key.starts_with("culprit_" + name + "{") && key.find(label) != key.npos) return value;
  }
  ADD_FAILURE() << "no " << name << " with " << label;
  return -1;
}

TEST(Metrics, HaveTheFiguresOfTheRun) {
  const auto series = series_of(metrics_text(sample(), "run1"));
  EXPECT_EQ(value_of(series, "running", "experiment=\"run1\""), 1);
  EXPECT_EQ(value_of(series, "run_seconds", "program=\"heat\""), 10);
  EXPECT_EQ(value_of(series, "newest_record_timestamp_seconds"), 999);
  EXPECT_DOUBLE_EQ(value_of(series, "efficiency_ratio", "factor=\"parallel\""), 0.8);
  EXPECT_DOUBLE_EQ(value_of(series, "waiting_ratio"), 0.2);
  EXPECT_DOUBLE_EQ(value_of(series, "waiting_by_pattern_ratio", "mpi.late_sender"), 0.2);
  EXPECT_DOUBLE_EQ(value_of(series, "blamed_ratio", "function=\"solve"), 0.2);
}

TEST(Metrics, NamesCannotBreakTheFormat) {
  for (const std::string name : {"a\"b", "a\\b", "a\nb", "\"} 1\nevil{x=\"", "a\xff\xfe"}) {
    const auto series = series_of(metrics_text(sample(name), name));
    EXPECT_GT(series.size(), 5u) << name;
  }
}

TEST(Metrics, SeriesAreBoundedWhateverTheProgramIs) {
  Now now = sample();
  for (uint32_t i = 0; i < 500; ++i) {
    const std::string name = "function_" + std::to_string(i);
    now.findings.callpaths.push_back({"main/" + name, name, "", 0});
    const CallPathId path(now.findings.callpaths.size() - 1);
    now.findings.delays.push_back({"mpi.late_sender", path, LocationId(0), 1.0 + i, 0});
    now.findings.idle_blame.push_back({path, LocationId(0), 1.0 + i});
  }
  const auto series = series_of(metrics_text(now, "run1"));
  EXPECT_LT(series.size(), 50u);
  EXPECT_GT(value_of(series, "blamed_ratio", "function_499"), 0);
}

TEST(Metrics, AnEmptyRunHasNoNonsense) {
  Now now;
  for (const auto& [key, value] : series_of(metrics_text(now, ""))) {
    EXPECT_TRUE(std::isfinite(value)) << key;
  }
}

TEST(Metrics, TheFileIsReplacedAsAWhole) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "culprit_metrics_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "job.prom";
  ASSERT_TRUE(write_metrics(sample(), "/somewhere/run1/", file).ok());
  ASSERT_TRUE(write_metrics(sample(), "/somewhere/run1", file).ok());
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(value_of(series_of(text), "running", "experiment=\"run1\""), 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_FALSE(write_metrics(sample(), "run1", folder / "missing" / "job.prom").ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace culprit::cli
