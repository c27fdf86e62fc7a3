// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit-windows-truth EXPERIMENT FOLDER WHOLE_S SLOT_S BURST_S PLACEMENTS
//
// Takes a run of which all records are there, and makes of it what a long run leaves: its profile,
// the first WHOLE_S seconds, and a window of BURST_S seconds in each slot of SLOT_S, at places that
// the collector's schedule draws. These are analysed and joined as those of a long run are, as
// often as PLACEMENTS says, with other places each time; FOLDER/<placement>.db has the findings.
// What they estimate is printed beside what the analysis of the whole run says, a line each:
//   placement, figure, name, time_s, low_s, high_s, whole_s, share, share_low, share_high,
//   whole_share; tabs between
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "assemble/assemble.h"
#include "assemble/open_profile.h"
#include "assemble/opening.h"
#include "assemble/prepare_run.h"
#include "assemble/source.h"
#include "base/parallel.h"
#include "blame/analyze.h"
#include "blame/bursts/join.h"
#include "blame/from_profile.h"
#include "blame/judge/causes.h"
#include "blame/judge/diagnose.h"
#include "cut.h"
#include "predict/rerun/gains.h"
#include "report/db/findings_db.h"
#include "trace/raw/bursts.h"

namespace culprit {
namespace {

namespace fs = std::filesystem;

struct Plan {
  fs::path experiment, folder;
  double whole_s = 0, slot_s = 0, burst_s = 0;
  uint64_t placements = 0;
};

struct Ticks {
  uint64_t begin = UINT64_MAX, end = 0;
  double per_s = 0;

  uint64_t at(double s) const { return begin + static_cast<uint64_t>(s * per_s); }
  double length_s() const { return static_cast<double>(end - begin) / per_s; }
};

/// All processes run on one node, and have their ticks in common.
Ticks ticks_of(const std::vector<assemble::RawProcessFolder>& run) {
  Ticks ticks;
  for (const auto& folder : run) {
    const trace::RawProcess& process = folder.process;
    ticks.begin = std::min(ticks.begin, process.start_ticks);
    ticks.end = std::max(ticks.end, process.end_ticks);
    const auto ns = static_cast<double>(process.last.monotonic_ns - process.first.monotonic_ns);
    if (ns > 0) {
      ticks.per_s = static_cast<double>(process.last.ticks - process.first.ticks) / ns * 1e9;
    }
  }
  return ticks;
}

/// Begins of windows, in seconds of the run.
std::vector<double> places_of(const Plan& plan, double run_s, uint64_t placement) {
  const trace::RawSchedule schedule{placement, static_cast<uint64_t>(plan.slot_s * 1e9),
                                    static_cast<uint64_t>(plan.burst_s * 1e9)};
  std::vector<double> places;
  for (uint64_t slot = 0;; ++slot) {
    const double begin_s =
        plan.whole_s + static_cast<double>(trace::raw_burst_begin_ns(schedule, slot)) * 1e-9;
    if (begin_s + plan.burst_s > run_s) return places;
    places.push_back(begin_s);
  }
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

class Truth {
 public:
  explicit Truth(Plan plan)
      : plan_(std::move(plan)),
        raw_(assemble::records_of(plan_.experiment)),
        options_(options()),
        run_(read()),
        ticks_(ticks_of(run_)) {
    auto whole = assemble::prepare_run(raw_, options_);
    if (!whole) give_up(whole.error().sentence);
    whole_ = analyze(std::move(*whole));
    auto opened = assemble::open_profile(plan_.experiment, 1, assemble::Keep::nothing);
    if (!opened) give_up(opened.error().sentence);
    auto profile = blame::findings_of_profile(opened->profile, 1, opened->facts.losses);
    if (!profile) give_up(profile.error().sentence);
    profile_ = std::move(*profile);
    note_truth();
  }

  void compare_all() {
    std::vector<std::string> lines(plan_.placements);
    parallel_for(lines.size(), 0, [&](size_t i) { lines[i] = compare(i); });
    for (const std::string& each : lines) std::fputs(each.c_str(), stdout);
  }

 private:
  assemble::PassOptions options() const {
    auto options = assemble::options_for(plan_.experiment, 1);
    if (!options) give_up(options.error().sentence);
    return std::move(*options);
  }

  std::vector<assemble::RawProcessFolder> read() const {
    Losses losses;
    std::vector<assemble::RawProcessFolder> run = assemble::read_raw(raw_, losses);
    if (run.empty()) give_up("there are no records");
    return run;
  }

  static blame::Findings analyze(std::unique_ptr<assemble::RecordedRun> run) {
    const Losses losses = run->facts.losses;
    const auto source = assemble::source_of(std::move(run));
    predict::GainObserver gains(1);
    blame::AnalyzeOptions options;
    options.threads = 1;
    options.observer = &gains;
    auto findings = blame::analyze(*source, options, losses);
    return findings ? std::move(*findings) : blame::Findings();
  }

  /// Names and times of what estimates are about, in the whole run.
  void note_truth() {
    double all_s = 0;
    for (const blame::Cause& cause : blame::causes(whole_)) {
      truth_[{blame::EstimatedFigure::cause, name_of(whole_, cause.example)}] += cause.cost_s;
      all_s += cause.cost_s;
    }
    for (const blame::FoundWait& row : whole_.waits) {
      truth_[{blame::EstimatedFigure::waiting, row.pattern}] += row.time_s;
      if (row.callpath.valid()) {
        truth_[{blame::EstimatedFigure::waiting,
                row.pattern + ' ' + path_of(whole_, row.callpath)}] += row.time_s;
      }
    }
    for (const auto& row : whole_.critical_callpaths) {
      truth_[{blame::EstimatedFigure::critical, path_of(whole_, row.callpath)}] += row.time_s;
    }
    for (const blame::FoundFunctionGain& row : whole_.function_gains) {
      truth_[{blame::EstimatedFigure::gain, name_of(whole_, row.callpath)}] = row.gain_s;
    }
    waiting_s_ = blame::own_waiting(whole_).seconds();
    truth_[{blame::EstimatedFigure::waiting, ""}] = waiting_s_;
  }

  static std::string name_of(const blame::Findings& findings, CallPathId path) {
    return path.valid() ? findings.callpaths[path.index()].region : std::string("(none)");
  }
  static std::string path_of(const blame::Findings& findings, CallPathId path) {
    return path.valid() ? findings.callpaths[path.index()].name : std::string();
  }

  blame::Findings join(uint64_t placement) const {
    blame::BurstRun run;
    run.profile = profile_;
    const assemble::TickSpan first{ticks_.begin, ticks_.at(plan_.whole_s)};
    run.whole = window(assemble::kWholePart, first).findings;
    run.whole_s = plan_.whole_s;
    uint64_t number = 0;
    for (const double begin_s : places_of(plan_, ticks_.length_s(), placement)) {
      const assemble::TickSpan span{ticks_.at(begin_s), ticks_.at(begin_s + plan_.burst_s)};
      blame::TracedWindow part = window(++number, span);
      if (!part.findings.locations.empty()) run.windows.push_back(std::move(part));
    }
    return blame::join_bursts(std::move(run), 1);
  }

  blame::TracedWindow window(uint64_t number, const assemble::TickSpan& span) const {
    auto part =
        assemble::prepare_window(assemble::test::cut_window(run_, number, span), raw_, options_);
    if (!part) return {};
    const assemble::WindowSpan found = assemble::span_of(**part);
    return {static_cast<uint32_t>(number), found.begin.seconds(),     found.begin.seconds(),
            found.end.seconds(),           analyze(std::move(*part)), true};
  }

  /// What an estimate is about; causes are named by their functions.
  static std::string about(const blame::Findings& joined, const std::vector<blame::Cause>& causes,
                           const blame::FoundEstimate& row) {
    if (row.figure == blame::EstimatedFigure::cause) {
      for (const blame::Cause& cause : causes) {
        if (cause.costliest == row.callpath) return name_of(joined, cause.example);
      }
      return name_of(joined, row.callpath);
    }
    if (row.figure == blame::EstimatedFigure::gain) return name_of(joined, row.callpath);
    const std::string path = path_of(joined, row.callpath);
    if (row.pattern.empty() || path.empty()) return row.pattern + path;
    return row.pattern + ' ' + path;
  }

  std::string compare(uint64_t placement) const {
    const blame::Findings joined = join(placement);
    const fs::path file = plan_.folder / (std::to_string(placement) + ".db");
    if (auto saved = report::save_findings(joined, file); !saved) give_up(saved.error().sentence);
    const std::vector<blame::Cause> causes = blame::causes(joined);
    std::string lines;
    for (const blame::FoundEstimate& row : joined.estimates) {
      const std::string name = about(joined, causes, row);
      if (row.figure == blame::EstimatedFigure::delay) continue;
      const auto truth = truth_.find({row.figure, name});
      const double whole_s = truth != truth_.end() ? truth->second : 0;
      const bool of_run = row.figure == blame::EstimatedFigure::critical ||
                          row.figure == blame::EstimatedFigure::gain;
      const double of_s = of_run ? whole_.run.wall_s : waiting_s_;
      lines += fmt::format(
          "{}\t{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\n", placement,
          blame::to_string(row.figure), name, row.time_s, row.low_s, row.high_s, whole_s, row.share,
          row.share_low, row.share_high, of_s > 0 ? whole_s / of_s : 0);
    }
    for (const std::string& sentence : joined.identities.violations) {
      lines += std::to_string(placement) + "\tviolation\t" + sentence + '\n';
    }
    return lines;
  }

  const Plan plan_;
  const GuardedPath raw_;
  const assemble::PassOptions options_;
  const std::vector<assemble::RawProcessFolder> run_;
  const Ticks ticks_;
  blame::Findings whole_, profile_;
  std::map<std::pair<blame::EstimatedFigure, std::string>, double> truth_;
  double waiting_s_ = 0;
};

int main_of(int count, char** words) {
  if (count != 7) give_up("EXPERIMENT FOLDER WHOLE_S SLOT_S BURST_S PLACEMENTS");
  const auto number = [&](int i) { return std::atof(words[i]); };
  Plan plan{words[1], words[2], number(3), number(4), number(5), static_cast<uint64_t>(number(6))};
  if (!(plan.slot_s > plan.burst_s) || !(plan.burst_s > 0)) give_up("bursts fill their slots");
  fs::create_directories(plan.folder);
  Truth(std::move(plan)).compare_all();
  return 0;
}

}  // namespace
}  // namespace culprit

int main(int count, char** words) {
  return culprit::main_of(count, words);
}
