// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The analysis from beginning to end. Each pass is timed; the passes' guarantees are checked at the
// end (check_identities), so a violated identity shows in the report of any user.
#include "blame/analyze.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/parallel.h"
#include "base/progress/budget.h"
#include "base/progress/progress.h"
#include "blame/collect/collect.h"
#include "blame/collect/join_findings.h"
#include "blame/delay/analyze_delays.h"
#include "blame/delay/thread_begins.h"
#include "blame/device/device_blame.h"
#include "blame/device/device_use.h"
#include "blame/explain/explanations.h"
#include "blame/finish.h"
#include "blame/memory_need.h"
#include "blame/passes.h"
#include "blame/verify.h"
#include "replay/model/run.h"

namespace culprit::blame {

namespace {

constexpr log::Component kLog("analyze");

/// Runs passes and keeps their times.
class Passes {
 public:
  template <class Pass>
  void run(std::string_view name, const Pass& pass) {
    const auto begin = std::chrono::steady_clock::now();
    pass();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    times.push_back({std::string(name), time.count()});
    kLog.debug("{}: {:.3f} s", name, time.count());
  }
  std::vector<PassTime> times;
};

/// Calls work(budget). Returns false if the work was given up: the budget was spent, or memory ran
/// out. Where several ranks work together, no rank may give up alone.
template <class Work>
bool within(const Allowance& allowance, uint64_t steps, bool alone, const Work& work) {
  if (!alone) {
    Budget endless;
    work(endless);
    return true;
  }
  try {
    Budget budget(allowance.steps(steps), steps == kEssential ? 1e300 : allowance.cpu_s());
    work(budget);
    return true;
  } catch (const BudgetSpent&) {
    return false;
  } catch (const std::bad_alloc&) {
    if (steps == kEssential) throw;
    return false;
  }
}

/// Calls explain(i, budget) for each that is not disabled, and notes which were given up.
template <class Explain>
void run_explanations(const Allowance& allowance, const DisabledPasses& disabled, bool alone,
                      Passes& passes, Findings& findings, const Explain& explain) {
  std::vector<std::string_view> given_up;
  for (size_t i = 0; i < kExplanations.size(); ++i) {
    if (disabled.explanations[i]) continue;
    passes.run(kExplanations[i].id, [&] {
      const bool done = within(allowance, kExplanations[i].steps, alone,
                               [&](Budget& budget) { explain(i, budget); });
      if (!done) given_up.push_back(kExplanations[i].what);
    });
  }
  if (!given_up.empty()) findings.run.notes.push_back(given_up_note(given_up));
}

/// The violations that --verify has found.
struct Verified {
  std::vector<std::string> sentences;
  void look(std::vector<std::string> broken) {
    std::move(broken.begin(), broken.end(), std::back_inserter(sentences));
  }
};

/// By place in kExplanations.
constexpr void (*kExplain[])(const Explained&, Findings&) = {
#define EXPLANATION(id, steps, what) explain_##id,
#include "blame/explain/explanations.def"
#undef EXPLANATION
};

std::vector<PathTimes> index_path_times(const replay::Run& run, const replay::WaitGraph& graph,
                                        unsigned threads) {
  std::vector<PathTimes> times(run.timelines.size());
  progress::Progress progress(progress::Stage::index, run.locations.size());
  parallel_for(
      run.locations.size(), threads, [&] { return PathSums(run.callpaths.size()); },
      [&](size_t i, PathSums& scratch) {
        const size_t id = run.locations[i].index();
        times[id] = PathTimes(run, run.locations[i], graph.waits[id], scratch);
        progress.step();
      });
  return times;
}

/// Null: none can be used.
Observer* observer_of(const AnalyzeOptions& options, const Transport& ranks) {
  Observer* const wanted = options.observer;
  return wanted != nullptr && !ranks.alone() && wanted->needs_whole_run() ? nullptr : wanted;
}

}  // namespace

Result<Findings> analyze(const trace::Source& source, const AnalyzeOptions& options,
                         const Losses& losses) try {
  const unsigned threads = thread_count(options.threads);
  kLog.debug("analyzing with {} threads", threads);
  Alone alone;
  Transport& ranks = options.ranks != nullptr ? *options.ranks : alone;
  if (auto enough = check_memory(source, ranks, options.memory); !enough) return enough.error();
  Observer* const observer = observer_of(options, ranks);
  Passes passes;
  Verified verified;
  Result<replay::Run> read = Error{};
  // Every event is read here, once. Beyond this point there are time lines, no events.
  const double begin_s = Budget::now_s();
  passes.run("read", [&] { read = replay::read_run(source, ranks, threads); });
  if (!read) return read.error();
  replay::Run& run = *read;
  const Allowance allowance{run.events, Budget::now_s() - begin_s, options.allowance};
  replay::WaitGraph graph;
  // Beyond this point no programming model is known: waits and synchronisation points are all.
  replay::DetectorTimes detectors{};
  Passes observed;  // timed apart: observers run within other passes
  passes.run("detect waits", [&] {
    graph = replay::detect_waits(run, threads, options.disabled.detectors, &detectors, [&] {
      if (observer == nullptr) return;
      observed.run("detect.observer", [&] { observer->at_operations(run, allowance); });
    });
  });
  if (options.last_alone) {
    for (auto& ties : graph.ties) ties.clear();
  }
  for (size_t i = 0; i < detectors.size(); ++i) {
    passes.times.push_back({"detect." + std::string(replay::kDetectors[i].id), detectors[i]});
  }
  passes.times.insert(passes.times.end(), observed.times.begin(), observed.times.end());
  if (options.verify) verified.look(verify_timelines(run)), verified.look(verify_waits(run, graph));
  passes.run("creators", [&] { settle_thread_begins(run, graph, threads); });
  std::vector<PathTimes> times;
  passes.run("index", [&] { times = index_path_times(run, graph, threads); });
  Explanations all;
  passes.run("profile", [&] { all.profiles = profile_activities(run, times, threads); });
  passes.run("course", [&] { all.series = find_time_series(run, graph, times, threads); });
  // Uses the synchronisation points up, and adds other ranks' waits that are due to this one.
  passes.run("delays", [&] { all.delays = analyze_delays(run, graph, times, threads); });
  if (options.verify) verified.look(verify_delays(run, all.delays));
  times.clear();
  passes.run("sums", [&] { all.waits = sum_waits(run, graph, all.delays, threads); });
  passes.run("critical path", [&] {
    all.path = find_critical_path(run, graph, threads);
    all.critical = profile_critical_path(run, all.waits, all.path.places, all.profiles);
  });
  if (options.verify) verified.look(verify_path(run, all.path));
  Findings findings;
  passes.run("collect", [&] { findings = collect_findings(run, graph, all, threads); });
  const auto explain = [&](size_t i, Budget& budget) {
    kExplain[i]({run, graph, all, threads, budget}, findings);
  };
  run_explanations(allowance, options.disabled, ranks.alone(), passes, findings, explain);
  findings.passes = passes.times;
  passes.run("join", [&] {
    join_findings(ranks, findings);
    findings.losses.merge(losses);
    if (ranks.rank() == 0) finish_findings(findings, threads, true);
  });
  if (observer != nullptr) {
    passes.run("observer", [&] { observer->at_end(run, graph, findings); });
  }
  for (std::string& sentence : verified.sentences) {
    findings.identities.violations.push_back(std::move(sentence));
  }
  if (options.disabled.any()) {
    findings.run.notes.push_back("Passes were switched off on request (" +
                                 names_of(options.disabled) + "): what they find is missing.");
  }
  findings.passes.insert(findings.passes.end(),
                         passes.times.begin() + static_cast<ptrdiff_t>(findings.passes.size()),
                         passes.times.end());
  return findings;
} catch (const std::bad_alloc&) {
  if (options.ranks != nullptr && !options.ranks->alone())
    throw;  // the other ranks wait for this one
  return Error{"out of memory: analyze this trace on a machine with more memory"};
}

}  // namespace culprit::blame
