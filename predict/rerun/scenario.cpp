// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From the user's words to factors by call path: one table for chosen hosts, one for chosen
// streams, one each for all others.
#include "predict/rerun/scenario.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/glob.h"

namespace culprit::predict {

namespace {

using replay::Run;
using trace::Paradigm;
using trace::RegionRole;

const trace::Region& region_of(const Run& run, CallPathId path) {
  return run.regions[run.callpaths[path].region.index()];
}

/// The call paths that a glob chooses, without what they call.
std::vector<bool> chosen(const Run& run, const std::string& glob) {
  const bool of_functions = glob.find('/') == std::string::npos;
  std::vector<bool> fits(run.callpaths.size());
  for (size_t i = 0; i < fits.size(); ++i) {
    const CallPathId path(i);
    fits[i] = matches_glob(glob, run.callpaths.name(path, run.regions)) ||
              (of_functions && matches_glob(glob, region_of(run, path).name));
  }
  return fits;
}

/// With what they call: parents come before their children.
void add_callees(const Run& run, std::vector<bool>& paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    const CallPathId parent = run.callpaths[CallPathId(i)].parent;
    if (parent.valid() && paths[parent.index()]) paths[i] = true;
  }
}

Error nothing_like(const std::string& glob) {
  return {"no call path is like '" + glob +
          "': `culprit report --by callpath` lists them, and * stands for anything"};
}

/// The factors of one sort of location, by call path.
using Factors = std::vector<double>;

class Planner {
 public:
  Planner(const Scenario& scenario, const Run& run, const EventGraph& graph)
      : scenario_(scenario), run_(run), graph_(graph) {}

  Result<std::unique_ptr<Change>> plan() {
    if (auto checked = check_locations(); !checked) return checked.error();
    hosts_.assign(run_.callpaths.size(), 1);
    streams_ = other_streams_ = hosts_;
    for (const Scaling& scaling : scenario_.scalings) {
      if (auto scaled = scale(scaling); !scaled) return scaled.error();
    }
    if (auto devices = scale_devices(); !devices) return devices.error();
    auto change = std::make_unique<Change>();
    change->factors = {hosts_, Factors(hosts_.size(), 1), streams_, other_streams_};
    change->pace.factors.resize(run_.timelines.size());
    change->pace.quiet.resize(run_.timelines.size());
    for (LocationId id : run_.locations) {
      const size_t sort = (run_.is_stream(id) ? 2 : 0) + (is_chosen(id) ? 0 : 1);
      change->pace.factors[id.index()] = &change->factors[sort];
      change->pace.quiet[id.index()] = run_.is_stream(id);
    }
    change->pace.latency = scenario_.latency;
    change->pace.transfer_time = 1 / scenario_.bandwidth;
    change->pace.locks = scenario_.locks ? *scenario_.locks : best_lock_order(graph_);
    change->times.resize(run_.timelines.size());
    for (const std::string& glob : scenario_.balanced) {
      if (auto done = balance_all(glob, change->times); !done) return done.error();
    }
    for (const auto& other : change->times) change->pace.times.push_back(other.get());
    return change;
  }

 private:
  uint32_t rank_of(LocationId id) const {
    return run_.definitions->processes[run_.location(id).process.index()].rank;
  }
  /// Streams belong to a rank and to none of its threads.
  bool is_chosen(LocationId id) const {
    if (!scenario_.ranks.empty() && !scenario_.ranks.contains(rank_of(id))) return false;
    if (scenario_.threads.empty()) return true;
    return !run_.is_stream(id) && scenario_.threads.contains(run_.location(id).thread);
  }

  Result<void> check_locations() const {
    std::set<uint32_t> ranks, threads;
    for (LocationId id : run_.locations) {
      ranks.insert(rank_of(id));
      if (!run_.is_stream(id)) threads.insert(run_.location(id).thread);
    }
    for (uint32_t rank : scenario_.ranks) {
      if (!ranks.contains(rank)) return Error{"the run has no such rank: " + std::to_string(rank)};
    }
    for (uint32_t thread : scenario_.threads) {
      if (!threads.contains(thread)) {
        return Error{"the run has no such thread: " + std::to_string(thread)};
      }
    }
    return {};
  }

  /// Whether what has these call paths works at one of them.
  bool works_at(LocationId id, const std::vector<bool>& paths) const {
    const Column<Step>& steps = graph_.steps[id.index()];
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
      return (step.kind() == StepKind::work || step.kind() == StepKind::transfer) &&
             paths[step.what];
    });
  }

  /// A change that nobody feels because nobody who is chosen is ever there would look like one that
  /// brings nothing.
  Result<void> check_executed(const std::string& glob, const std::vector<bool>& paths) const {
    if (scenario_.ranks.empty() && scenario_.threads.empty()) return {};
    const bool any = std::any_of(run_.locations.begin(), run_.locations.end(), [&](LocationId id) {
      return is_chosen(id) && works_at(id, paths);
    });
    if (!any) return Error{"none of the chosen ranks and threads executes '" + glob + "'"};
    return {};
  }

  Result<void> scale(const Scaling& scaling) {
    const std::vector<bool> exactly = chosen(run_, scaling.callpaths);
    if (std::find(exactly.begin(), exactly.end(), true) == exactly.end()) {
      return nothing_like(scaling.callpaths);
    }
    std::vector<bool> paths = exactly;
    add_callees(run_, paths);
    if (auto executed = check_executed(scaling.callpaths, paths); !executed) return executed;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (paths[i] && (scaling.with_calls || exactly[i] || is_code(run_, CallPathId(i)))) {
        hosts_[i] *= scaling.factor;
      }
      // Who speeds a function up has not sped up the kernels that it launches.
      if (exactly[i] || (paths[i] && scaling.with_calls)) streams_[i] *= scaling.factor;
    }
    return {};
  }

  Result<void> scale_devices() {
    if (scenario_.kernels == 1 && scenario_.launch_latency == 1) return {};
    if (!run_.device_idle.valid()) return Error{"the run has no device"};
    for (size_t i = 0; i < streams_.size(); ++i) {
      const CallPathId path(i);
      const double factor = path == run_.launch_latency ? scenario_.launch_latency
                            : region_of(run_, path).role == RegionRole::kernel ? scenario_.kernels
                                                                               : 1;
      streams_[i] *= factor;
      other_streams_[i] *= factor;
    }
    return {};
  }

  /// Threads of a process share what lies in its parallel regions, processes share all else.
  Result<void> balance_all(const std::string& glob, OtherTimes& times) {
    const std::vector<bool> exactly = chosen(run_, glob);
    if (std::find(exactly.begin(), exactly.end(), true) == exactly.end()) return nothing_like(glob);
    std::vector<bool> paths = exactly;
    add_callees(run_, paths);
    for (size_t i = 0; i < paths.size(); ++i) {
      paths[i] = paths[i] && (exactly[i] || is_code(run_, CallPathId(i)));
    }
    const Sharers sharers = sharers_of(paths);
    if (sharers.members.size() < 2) {
      const std::string who =
          sharers.members.empty() ? "no thread executes '" : "only one thread executes '";
      return Error{who + glob + "': there is nothing to balance"};
    }
    for (LocationId id : sharers.members) apply_factors(id, paths, times[id.index()]);
    balance(graph_, paths, sharers, times);
    return {};
  }

  /// What is balanced is what is scaled, too: once, if several globs choose it.
  void apply_factors(LocationId id, const std::vector<bool>& paths,
                     std::unique_ptr<Column<double>>& times) const {
    const Column<Step>& steps = graph_.steps[id.index()];
    if (!times) {
      times = std::make_unique<Column<double>>();
      times->resize(steps.size(), kAsItWas);
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.kind() != StepKind::work || !paths[step.what] || (*times)[i] != kAsItWas) continue;
      (*times)[i] = static_cast<double>(step.amount) * hosts_[step.what];
    }
  }

  Sharers sharers_of(const std::vector<bool>& paths) const {
    Sharers sharers;
    std::set<ProcessId> processes;
    for (LocationId id : run_.locations) {
      if (run_.is_stream(id) || !is_chosen(id)) continue;
      const Column<Step>& steps = graph_.steps[id.index()];
      const bool takes_part = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        return step.kind() == StepKind::work && paths[step.what];
      });
      if (!takes_part) continue;
      sharers.members.push_back(id);
      processes.insert(run_.location(id).process);
    }
    sharers.of_one_process = processes.size() == 1;
    return sharers;
  }

  const Scenario& scenario_;
  const Run& run_;
  const EventGraph& graph_;
  Factors hosts_, streams_, other_streams_;
};

}  // namespace

bool Scenario::changes_anything() const {
  return !scalings.empty() || !balanced.empty() || latency != 1 || bandwidth != 1 || kernels != 1 ||
         launch_latency != 1 || perturbation.changes_compute() || perturbation.message_delay;
}

bool Scenario::is_random() const {
  const auto comes = [](const NoiseChange& change) { return change.factor > 0; };
  return perturbation.message_delay ||
         std::any_of(perturbation.noise.begin(), perturbation.noise.end(), comes);
}

bool is_code(const Run& run, CallPathId path) {
  const RegionId id = run.callpaths[path].region;
  if (!id.valid()) return false;
  const trace::Region& region = run.regions[id.index()];
  if (region.paradigm == Paradigm::mpi) return false;
  switch (region.role) {
    case RegionRole::barrier:
    case RegionRole::implicit_barrier:
    case RegionRole::task_wait:
    case RegionRole::lock:
    case RegionRole::point_to_point:
    case RegionRole::collective:
    case RegionRole::artificial:
      return false;
    default:
      return true;
  }
}

Result<std::unique_ptr<Change>> plan(const Scenario& scenario, const Run& run,
                                     const EventGraph& graph) {
  return Planner(scenario, run, graph).plan();
}

}  // namespace culprit::predict
