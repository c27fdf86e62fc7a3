// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the cost of the whole analysis grows: time against a bare read of the same archive with OTF2
// alone, by as many threads (pairs side by side, median of the ratios), and peak memory, each
// measurement in a process of its own. For each series the exponent: the slope of the least
// squares line through log(time) over log(what grows).
//
//     analysis_scale [SERIES...] [--full] [--pairs N] [--threads N] [--folder SCRATCH]
//
// Without --full the largest trace of each series is left out. A trace that this machine has no
// memory or disk for is left out, too, and said so.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/result.h"
#include "blame/analyze.h"
#include "tests/bench/bare_read.h"
#include "tests/bench/scale/measured_child.h"
#include "tests/bench/scale/series.h"
#include "trace/otf2/reader.h"

namespace culprit::bench {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kLimit_s = 300;

// --- the measured processes -----------------------------------------------------------------

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int play_bare(const fs::path& anchor, unsigned threads) {
  std::printf("%.9f\n", seconds([&] { bare_read(anchor, threads); }));
  return 0;
}

int play_analysis(const fs::path& anchor, unsigned threads) {
  std::printf("%.9f\n", seconds([&] {
                Losses losses;
                auto source = trace::open_otf2(anchor, losses);
                CULPRIT_CHECK(source.ok());
                CULPRIT_CHECK(blame::analyze(**source, {threads}, losses).ok());
              }));
  return 0;
}

// --- the measuring one ------------------------------------------------------------------------

struct Options {
  std::set<std::string> wanted;  ///< series; empty: all
  bool full = false;
  int pairs = 3;
  unsigned threads = 2;
  fs::path folder = fs::temp_directory_path();
};

struct Row {
  double x = 0;  ///< what grows
  double analysis_s = 0;
  double bare_s = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Slope of log(y) over log(x); both above 0.
double exponent(const std::vector<Row>& rows, double Row::* y) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Row& row : rows) {
    const double lx = std::log(row.x), ly = std::log(row.*y);
    sum_x += lx;
    sum_y += ly;
    sum_xx += lx * lx;
    sum_xy += lx * ly;
  }
  const auto n = static_cast<double>(rows.size());
  return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    uint64_t kib = 0;
    if (word == "MemAvailable:" && in >> kib) return kib * 1024;
  }
  return 0;
}

/// Why a trace of so many events cannot be measured here; empty if it can.
std::string no_room(uint64_t events, const fs::path& folder) {
  constexpr uint64_t kMemory = 60, kDisk = 30;  // bytes an event, generously
  std::error_code code;
  if (available_memory() < events * kMemory) return "not enough memory";
  if (fs::space(folder, code).available < events * kDisk) return "not enough disk";
  return "";
}

/// The measurements of one archive, in pairs.
class Pairs {
 public:
  bool measure(const fs::path& anchor, const Options& options) {
    const std::string self = fs::read_symlink("/proc/self/exe"),
                      threads = std::to_string(options.threads);
    const fs::path findings = anchor.parent_path().parent_path() / "findings";
    for (int i = 0; i < options.pairs; ++i) {
      const auto bare = run_measured({self, "--bare", anchor, threads}, kLimit_s);
      const auto analysis = run_measured({self, "--analysis", anchor, threads}, kLimit_s);
      fs::remove_all(findings);
      const auto command = run_measured(
          {CULPRIT_PROGRAM, "analyze", anchor, "-o", findings, "-j", threads}, kLimit_s);
      if (!bare || !analysis || !command) return false;
      bare_s.push_back(std::stod(bare->output));
      analysis_s.push_back(std::stod(analysis->output));
      command_s.push_back(command->wall_s);
      ratio.push_back(analysis_s.back() / bare_s.back());
      command_ratio.push_back(command_s.back() / bare_s.back());
      peak.push_back(static_cast<double>(analysis->peak_bytes));
    }
    return true;
  }
  std::vector<double> bare_s, analysis_s, command_s, ratio, command_ratio, peak;
};

void print_head() {
  std::printf(
      "| series | locations | events | bare read, ns/event | analysis, ns/event | ratio | "
      "whole command | peak, bytes/event |\n|---|---|---|---|---|---|---|---|\n");
}

/// Generates, measures and prints one trace; nothing if there was no room or no end.
bool measure_step(const Series& series, const Step& step, const Options& options, Row& row) {
  const PatternKind* kind = find_pattern(series.pattern);
  CULPRIT_CHECK(kind);
  const Shape shape = step.events != 0 ? with_events(*kind, step.shape, step.events) : step.shape;
  const uint32_t locations = shape.ranks * (kind->hybrid ? shape.threads : 1);
  const fs::path scratch = options.folder / ("culprit-scale." + std::to_string(getpid()));
  const std::string why = no_room(step.events, options.folder);
  if (!why.empty()) {
    std::printf("| %s | %u | %llu | %s | | | | |\n", series.name.c_str(), locations,
                static_cast<unsigned long long>(step.events), why.c_str());
    return false;
  }
  const uint64_t events = generate(scratch / "trace", *kind, shape);
  Pairs pairs;
  const bool done = pairs.measure(scratch / "trace" / "traces.otf2", options);
  fs::remove_all(scratch);
  std::printf("| %s | %u | %llu | ", series.name.c_str(), locations,
              static_cast<unsigned long long>(events));
  if (!done) {
    std::printf("failed, or longer than %u s | | | | |\n", kLimit_s);
    return false;
  }
  row = {series.grows == "events" ? static_cast<double>(events) : locations,
         median(pairs.analysis_s), median(pairs.bare_s)};
  const double nanos = 1e9 / static_cast<double>(events);
  std::printf("%.1f | %.1f | %.2f | %.2f | %.1f |\n", row.bare_s * nanos, row.analysis_s * nanos,
              median(pairs.ratio), median(pairs.command_ratio),
              median(pairs.peak) / static_cast<double>(events));
  return true;
}

void measure_series(const Series& series, const Options& options) {
  std::vector<Row> rows;
  for (const Step& step : series.steps) {
    if (step.full && !options.full) continue;
    Row row;
    if (measure_step(series, step, options, row)) rows.push_back(row);
    std::fflush(stdout);
  }
  if (rows.size() < 2) return;
  std::printf("| %s | | | %s^%.2f | %s^%.2f | | | |\n", series.name.c_str(), series.grows.c_str(),
              exponent(rows, &Row::bare_s), series.grows.c_str(), exponent(rows, &Row::analysis_s));
  std::fflush(stdout);
}

int usage() {
  std::puts("usage: analysis_scale [SERIES...] [--full] [--pairs N] [--threads N] [--folder PATH]");
  for (const Series& series : all_series()) std::printf("  %s\n", series.name.c_str());
  return 2;
}

int measure_all(int argc, char** argv) {
  Options options;
  std::set<std::string> known;
  for (const Series& series : all_series()) known.insert(series.name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "--full") {
      options.full = true;
    } else if (known.contains(word)) {
      options.wanted.insert(word);
    } else if (!value || ++i == 0) {
      return usage();
    } else if (word == "--pairs") {
      options.pairs = std::max(1, std::atoi(value));
    } else if (word == "--threads") {
      options.threads = static_cast<unsigned>(std::max(1, std::atoi(value)));
    } else if (word == "--folder") {
      options.folder = value;
    } else {
      return usage();
    }
  }
  print_head();
  for (const Series& series : all_series()) {
    if (options.wanted.empty() || options.wanted.contains(series.name)) {
      measure_series(series, options);
    }
  }
  return 0;
}

}  // namespace
}  // namespace culprit::bench

int main(int argc, char** argv) {
  using namespace culprit::bench;
  const std::string role = argc == 4 ? argv[1] : "";
  if (role == "--bare") return play_bare(argv[2], static_cast<unsigned>(std::atoi(argv[3])));
  if (role == "--analysis") {
    return play_analysis(argv[2], static_cast<unsigned>(std::atoi(argv[3])));
  }
  return measure_all(argc, argv);
}
