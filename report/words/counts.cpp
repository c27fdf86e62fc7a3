// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rounded to what can be read at a glance; ratios only of counters that belong together.
#include "report/words/counts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "report/words/layout.h"

namespace culprit::report {
namespace {

/// A figure that says more than the two counters of which it is made.
struct Ratio {
  std::string_view of;
  std::string_view by;
  double factor;
  std::string_view words;
};

constexpr std::array<Ratio, 6> kRatios = {{
    {"PAPI_TOT_INS", "PAPI_TOT_CYC", 1, "per cycle"},
    {"PAPI_FP_OPS", "PAPI_TOT_CYC", 1, "per cycle"},
    {"PAPI_L1_DCM", "PAPI_TOT_INS", 1000, "per 1000 instructions"},
    {"PAPI_L2_TCM", "PAPI_TOT_INS", 1000, "per 1000 instructions"},
    {"PAPI_L3_TCM", "PAPI_TOT_INS", 1000, "per 1000 instructions"},
    {"PAPI_BR_MSP", "PAPI_BR_CN", 100, "% of branches"},
}};

std::string ratio_of(const std::vector<blame::FoundMetric>& metrics,
                     const blame::CountedPath& counted, size_t metric) {
  for (const Ratio& ratio : kRatios) {
    if (metrics[metric].name != ratio.of) continue;
    for (size_t by = 0; by < metrics.size(); ++by) {
      if (metrics[by].name != ratio.by || counted.values[by] <= 0) continue;
      const double value = counted.values[metric] / counted.values[by] * ratio.factor;
      return fmt::format("{:.2f} {}", value, ratio.words);
    }
  }
  return "";
}

}  // namespace

std::string short_count(double value) {
  constexpr double kGroupedBelow = 100'000;
  if (std::abs(value) < kGroupedBelow) return grouped(static_cast<size_t>(std::llround(value)));
  constexpr std::array<std::string_view, 6> kPrefixes = {"k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (value /= 1000; std::abs(value) >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix) {
    value /= 1000;
  }
  const int digits = std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, kPrefixes[prefix]);
}

std::string counts_in_words(const std::vector<blame::FoundMetric>& metrics,
                            const blame::CountedPath& counted) {
  std::string words;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (counted.values[i] == 0) continue;
    if (!words.empty()) words += ", ";
    words += fmt::format("{} {}", metrics[i].name, short_count(counted.values[i]));
    if (!metrics[i].unit.empty()) words += " " + metrics[i].unit;
    if (const std::string ratio = ratio_of(metrics, counted, i); !ratio.empty()) {
      words += fmt::format(" ({})", ratio);
    } else if (!metrics[i].level && metrics[i].unit.empty() && counted.time_s > 0) {
      words += fmt::format(" ({}/s)", short_count(counted.values[i] / counted.time_s));
    }
  }
  return words;
}

}  // namespace culprit::report
