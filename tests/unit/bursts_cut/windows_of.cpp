// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit-windows EXPERIMENT [N]: cuts a recorded run end to end into N windows, analyses each, and
// compares the sums with the analysis of the whole.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "assemble/assemble.h"
#include "assemble/prepare_run.h"
#include "assemble/source.h"
#include "blame/analyze.h"
#include "cut.h"

namespace culprit {
namespace {

std::string path_of(const blame::Findings& findings, CallPathId path) {
  std::string text;
  if (path.valid()) {
    const auto& row = findings.callpaths[path.index()];
    text = row.name;
  }
  return text.size() > 90 ? "..." + text.substr(text.size() - 90) : text;
}

struct Sums {
  std::map<std::string, double> waits, blamed;
  std::map<std::string, uint64_t> losses;
  double wall_s = 0;
  size_t violations = 0;

  void add(const blame::Findings& findings) {
    wall_s += findings.run.wall_s;
    violations += findings.identities.violations.size();
    for (const auto& row : findings.waits) waits[row.pattern] += row.time_s;
    for (const auto& row : findings.delays) {
      blamed[path_of(findings, row.callpath)] += row.short_s + row.long_s;
    }
    for (const auto& [name, loss] : findings.losses.all()) losses[name] += loss.count;
    for (const std::string& violation : findings.identities.violations) {
      std::printf("  violated: %s\n", violation.c_str());
    }
  }
};

blame::Findings analyze(std::unique_ptr<assemble::RecordedRun> run) {
  Losses losses = run->facts.losses;
  const auto source = assemble::source_of(std::move(run));
  auto findings = blame::analyze(*source, {}, losses);
  if (!findings) {
    std::printf("  not analysed: %s\n", findings.error().sentence.c_str());
    return {};
  }
  return std::move(*findings);
}

template <class Values>
void compare(const char* what, const Values& whole, const Values& parts) {
  std::vector<std::pair<double, std::string>> rows;
  for (const auto& [name, value] : whole) rows.emplace_back(-static_cast<double>(value), name);
  for (const auto& [name, value] : parts) {
    if (!whole.contains(name)) rows.emplace_back(0, name);
  }
  std::sort(rows.begin(), rows.end());
  std::printf("%s: whole, windows\n", what);
  for (size_t i = 0; i < std::min<size_t>(rows.size(), 14); ++i) {
    const std::string& name = rows[i].second;
    const auto part = parts.find(name);
    std::printf("  %12.4f %12.4f  %s\n", -rows[i].first,
                part != parts.end() ? static_cast<double>(part->second) : 0.0, name.c_str());
  }
}

/// What the windows of a long run say.
int show_windows(const char* experiment) {
  const assemble::LongRun run(experiment, 0);
  for (uint64_t number = 0; number < run.windows(); ++number) {
    auto opened = run.open(number, assemble::Keep::nothing);
    if (!opened) {
      std::printf("window %lu: %s\n", number, opened.error().sentence.c_str());
      continue;
    }
    auto findings = blame::analyze(*opened->records.source, {}, opened->records.facts.losses);
    if (!findings) {
      std::printf("window %lu: %s\n", number, findings.error().sentence.c_str());
      continue;
    }
    Sums sums;
    sums.add(*findings);
    std::printf("window %lu: %.3f to %.3f s, %.3f s, %zu locations, violations %zu\n", number,
                opened->window.begin_s, opened->window.end_s, sums.wall_s,
                findings->locations.size(), sums.violations);
    for (const auto& [name, time_s] : sums.waits)
      std::printf("   %9.4f %s\n", time_s, name.c_str());
    for (const auto& [name, lost] : sums.losses) std::printf("   %9lu %s\n", lost, name.c_str());
    for (const std::string& note : opened->records.facts.notes)
      std::printf("   %.100s\n", note.c_str());
  }
  return 0;
}

int main_of(int count, char** words) {
  if (count < 2) return 2;
  if (assemble::is_long_run(words[1])) return show_windows(words[1]);
  const GuardedPath raw = GuardedPath(words[1]) / "raw";
  const unsigned windows = count > 2 ? static_cast<unsigned>(std::atoi(words[2])) : 10;
  Losses losses;
  const std::vector<assemble::RawProcessFolder> run = assemble::read_raw(raw, losses);
  if (run.empty()) return 1;
  uint64_t begin = UINT64_MAX, end = 0;
  for (const auto& folder : run) {
    begin = std::min(begin, folder.process.start_ticks);
    end = std::max(end, folder.process.end_ticks);
  }
  Sums whole, parts;
  assemble::PassOptions options;
  auto all = assemble::prepare_run(raw, options);
  if (!all) return 1;
  whole.add(analyze(std::move(*all)));
  const uint64_t length = (end - begin) / windows + 1;
  for (unsigned i = 0; i < windows; ++i) {
    const assemble::TickSpan span{begin + i * length, std::min(end, begin + (i + 1) * length)};
    auto part =
        assemble::prepare_window(assemble::test::cut_window(run, i + 1, span), raw, options);
    if (!part) {
      std::printf("window %u: %s\n", i, part.error().sentence.c_str());
      continue;
    }
    parts.add(analyze(std::move(*part)));
  }
  std::printf("%.3f s of %.3f s, violations %zu and %zu\n", parts.wall_s, whole.wall_s,
              whole.violations, parts.violations);
  compare("waits", whole.waits, parts.waits);
  compare("blamed", whole.blamed, parts.blamed);
  compare("losses", whole.losses, parts.losses);
  return 0;
}

}  // namespace
}  // namespace culprit

int main(int count, char** words) {
  return culprit::main_of(count, words);
}
