// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the cost of `culprit analyze` grows, the installed command as users run it: CPU time against
// a bare read of the same archive with OTF2 alone, by as many threads (pairs side by side, median
// of the ratios), and peak memory, each measurement in a process of its own. What part of the
// passes projects gains is beside it. Fails if the command, or one of its passes, grows faster than
// reading does (growth.h).
//
//     analysis_scale [SERIES...] [--full] [--pairs N] [--threads N] [--folder SCRATCH]
//
// Without --full the largest trace of each series is left out. A trace that this machine has no
// memory or disk for is left out, too, and said so.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/result.h"
#include "report/db/findings_db.h"
#include "tests/bench/bare_read.h"
#include "tests/bench/scale/growth.h"
#include "tests/bench/scale/measured_child.h"
#include "tests/bench/scale/series.h"

namespace culprit::bench {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kLimit_s = 300;
constexpr int kEnough = 3;  ///< pairs, for wall-clock time to be judged
/// The pass that collects what projecting gains needs; the other one is "observer".
constexpr const char* kDependences = "detect.observer";

struct Options {
  std::set<std::string> wanted;  ///< series; empty: all
  bool full = false;
  int pairs = 3;
  unsigned threads = 2;
  fs::path folder = fs::temp_directory_path();
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
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

/// What the passes of a kept analysis took.
std::map<std::string, double> passes_of(const fs::path& experiment) {
  std::map<std::string, double> passes;
  const auto findings = report::load_findings(experiment / "findings.db");
  if (!findings) return passes;
  for (const auto& pass : findings->passes) passes[pass.name] += pass.time_s;
  // Parts of another one.
  std::erase_if(passes, [](const auto& pass) {
    return pass.first.starts_with("detect.") && pass.first != kDependences;
  });
  passes["detect waits"] -= passes[kDependences];
  return passes;
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
      fs::remove_all(findings);
      const auto command = run_measured(
          {CULPRIT_PROGRAM, "analyze", anchor, "-o", findings, "-j", threads}, kLimit_s);
      if (!bare || !command) return false;
      bare_s.push_back(bare->cpu_s);
      command_s.push_back(command->cpu_s);
      ratio.push_back(command->cpu_s / bare->cpu_s);
      peak.push_back(static_cast<double>(command->peak_bytes));
      keep_best(passes_of(findings));
    }
    return true;
  }
  std::vector<double> bare_s, command_s, ratio, peak;
  std::map<std::string, double> passes;  ///< each the best

 private:
  void keep_best(const std::map<std::string, double>& one) {
    for (const auto& [name, time_s] : one) {
      double& best = passes.try_emplace(name, time_s).first->second;
      best = std::min(best, time_s);
    }
  }
};

/// The part of the passes that projecting gains has.
double share_of_gains(const std::map<std::string, double>& passes) {
  double gains = 0, all = 0;
  for (const auto& [name, time_s] : passes) {
    all += time_s;
    if (name == kDependences || name == "observer") gains += time_s;
  }
  return all > 0 ? gains / all : 0;
}

void print_head() {
  std::printf(
      "| series | locations | events | bare read, ns/event | command, ns/event | ratio | gains | "
      "peak, bytes/event |\n|---|---|---|---|---|---|---|---|\n");
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
  row = {series.grows == "events" ? static_cast<double>(events) : locations, median(pairs.bare_s),
         median(pairs.command_s), pairs.passes};
  const double nanos = 1e9 / static_cast<double>(events);
  std::printf("%.1f | %.1f | %.2f | %.0f %% | %.1f |\n", row.bare_s * nanos, row.command_s * nanos,
              median(pairs.ratio), 100 * share_of_gains(pairs.passes),
              median(pairs.peak) / static_cast<double>(events));
  return true;
}

/// False: something grows too fast, or did not come to an end.
bool measure_series(const Series& series, const Options& options) {
  std::vector<Row> rows;
  bool good = true;
  for (const Step& step : series.steps) {
    if (step.full && !options.full) continue;
    Row row;
    const bool done = measure_step(series, step, options, row);
    if (done) rows.push_back(row);
    good &= done || !no_room(step.events, options.folder).empty();
    std::fflush(stdout);
  }
  for (const std::string& sentence : too_fast(rows, options.pairs >= kEnough)) {
    std::printf("| %s | | | **%s** | | | | |\n", series.name.c_str(), sentence.c_str());
    good = false;
  }
  std::fflush(stdout);
  return good;
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
  bool good = true;
  for (const Series& series : all_series()) {
    if (options.wanted.empty() || options.wanted.contains(series.name)) {
      good &= measure_series(series, options);
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace culprit::bench

int main(int argc, char** argv) {
  using namespace culprit::bench;
  const std::string role = argc == 4 ? argv[1] : "";
  if (role == "--bare") {
    bare_read(argv[2], static_cast<unsigned>(std::atoi(argv[3])));
    return 0;
  }
  return measure_all(argc, argv);
}
