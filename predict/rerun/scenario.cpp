// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From the user's words to factors by call path: one table for chosen hosts, one for chosen
// streams, one each for all others.
#include "predict/rerun/scenario.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/glob.h"
#include "trace/pseudo_regions.h"

namespace culprit::predict {

namespace {

using replay::Run;
using trace::Paradigm;
using trace::RegionRole;

const trace::Region& region_of(const Run& run, CallPathId path) {
  return run.regions[run.callpaths[path].region.index()];
}

/// The call paths that a glob chooses, without what they call but in libraries.
std::vector<bool> chosen(const Run& run, const std::string& glob) {
  std::vector<bool> fits(run.callpaths.size());
  for (size_t i = 0; i < fits.size(); ++i) {
    const CallPathId path(i);
    fits[i] =
        matches_callpath(glob, run.callpaths.name(path, run.regions), region_of(run, path).name);
    const CallPathId parent = run.callpaths[path].parent;
    const trace::Region& region = region_of(run, path);
    const bool in_library = region.paradigm == Paradigm::library ||
                            trace::pseudo_of(region.name) == trace::Pseudo::in_library;
    if (in_library && parent.valid() && fits[parent.index()]) fits[i] = true;
  }
  return fits;
}

/// Whether a glob chooses a call path for the name of its last function, and not for what calls it,
/// so that it would not fit if the function had another name. 'main/solve*' is about solve and what
/// is like it, not about the MPI_Allreduce below.
bool names(const Run& run, std::string_view glob, CallPathId path) {
  constexpr const char* kNobody = "\x01";
  const CallPathId parent = run.callpaths[path].parent;
  const std::string above = parent.valid() ? run.callpaths.name(parent, run.regions) + "/" : "";
  return !matches_callpath(glob, above + kNobody, kNobody);
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

Error nothing_of_code(const std::string& glob) {
  return {"'" + glob +
          "' fits no code, but calls of MPI, barriers, locks or kernels: say the name of what is "
          "meant"};
}

DeliveryTime time_on(const LinkChange& link, const Scenario& scenario, uint64_t bytes,
                     uint32_t hops) {
  const auto times = [hops](Duration one) {
    return whole_nanos(static_cast<double>(one.nanos()) * hops);
  };
  return {times(message_time(link.recorded, bytes)),
          times(message_time(link.wanted, bytes, scenario.latency, scenario.bandwidth))};
}

std::optional<DeliveryTime> delivery_time(const Scenario& scenario, const Delivery& delivery,
                                          std::set<LinkKind>& unknown) {
  DeliveryTime all;
  for (const auto& [kind, hops] : {std::pair(LinkKind::same_node, delivery.near_hops),
                                   {LinkKind::other_node, delivery.far_hops}}) {
    if (hops == 0) continue;
    const std::optional<LinkChange>& link = scenario.perturbation.link(kind);
    if (!link) return unknown.insert(kind), std::nullopt;
    const DeliveryTime of_kind = time_on(*link, scenario, delivery.bytes, hops);
    all.before += of_kind.before, all.after += of_kind.after;
  }
  return all;
}

/// As Pace has them.
std::vector<std::optional<DeliveryTime>> delivery_times(const Scenario& scenario,
                                                        const EventGraph& graph,
                                                        std::set<LinkKind>& unknown) {
  std::vector<std::optional<DeliveryTime>> times;
  if (!scenario.perturbation.changes_links() && !scenario.perturbation.moved) return times;
  times.resize(graph.deliveries.size());
  for (uint32_t i = Deliveries::kNone + 1; i < times.size(); ++i) {
    times[i] = delivery_time(scenario, graph.deliveries[i], unknown);
  }
  return times;
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
    change->pace.before_begin = run_.not_started;
    for (LocationId id : run_.locations) {
      const size_t sort = (run_.is_stream(id) ? 2 : 0) + (is_chosen(id) ? 0 : 1);
      change->pace.factors[id.index()] = &change->factors[sort];
      change->pace.quiet[id.index()] = run_.is_stream(id);
    }
    change->pace.latency = scenario_.latency;
    change->pace.transfer_time = 1 / scenario_.bandwidth;
    change->pace.deliveries = delivery_times(scenario_, graph_, change->unknown_links);
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

  /// The call paths that a glob matches: `code` with its callees, `named` of any kind.
  struct Choice {
    std::vector<bool> code, named, all;
    bool takes(size_t path) const { return code[path] || named[path]; }
    /// A speed-up of a function does not apply to the kernels that it launches.
    bool scales_stream(size_t path, const Scaling& scaling) const {
      return named[path] || (all[path] && scaling.with_calls);
    }
  };

  /// Error if no chosen location ever executes the chosen call paths: such a change would look like
  /// one without effect.
  Result<void> check_executed(const Scaling& scaling, const Choice& choice) const {
    if (scenario_.ranks.empty() && scenario_.threads.empty()) return {};
    const bool any = std::any_of(run_.locations.begin(), run_.locations.end(), [&](LocationId id) {
      if (!is_chosen(id)) return false;
      const Column<Step>& steps = graph_.steps[id.index()];
      return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        const bool takes_time = step.kind() == StepKind::work || step.kind() == StepKind::transfer;
        return takes_time && (run_.is_stream(id) ? choice.scales_stream(step.what, scaling)
                                                 : choice.takes(step.what));
      });
    });
    if (!any) {
      return Error{"none of the chosen ranks and threads executes '" + scaling.callpaths + "'"};
    }
    return {};
  }

  Result<Choice> choose(const std::string& glob, bool with_calls) const {
    Choice choice;
    choice.named = chosen(run_, glob);
    if (std::find(choice.named.begin(), choice.named.end(), true) == choice.named.end()) {
      return nothing_like(glob);
    }
    choice.all = choice.named;
    add_callees(run_, choice.all);
    choice.code = choice.all;
    bool any = false;
    for (size_t i = 0; i < choice.code.size(); ++i) {
      const CallPathId path(i);
      const bool kernel = region_of(run_, path).role == RegionRole::kernel;
      choice.code[i] = choice.all[i] && (with_calls || (is_code(run_, path) && !kernel));
      choice.named[i] = choice.named[i] && names(run_, glob, path);
      any |= choice.takes(i);
    }
    if (!any) return nothing_of_code(glob);
    return choice;
  }

  Result<void> scale(const Scaling& scaling) {
    const auto choice = choose(scaling.callpaths, scaling.with_calls);
    if (!choice) return choice.error();
    if (auto executed = check_executed(scaling, *choice); !executed) return executed;
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (choice->takes(i)) hosts_[i] *= scaling.factor;
      if (choice->scales_stream(i, scaling)) streams_[i] *= scaling.factor;
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

  /// Spreads the work over all locations that could execute it.
  Result<void> balance_all(const std::string& glob, OtherTimes& times) {
    const auto choice = choose(glob, false);
    if (!choice) return choice.error();
    std::vector<bool> chosen(run_.callpaths.size());
    std::vector<CallPathId> paths;
    for (size_t i = 0; i < chosen.size(); ++i) {
      chosen[i] = choice->takes(i);
      if (chosen[i]) paths.push_back(CallPathId(i));
    }
    std::vector<LocationId> working;
    for (LocationId id : run_.locations) {
      if (run_.is_stream(id) || !is_chosen(id) || !works_at(graph_, id, chosen)) continue;
      working.push_back(id);
    }
    if (working.empty()) {
      return Error{"no thread executes '" + glob + "': there is nothing to balance"};
    }
    Sharers sharers = sharers_of(run_, population_of(run_), working, over_of(working, chosen));
    std::erase_if(sharers.members, [&](LocationId id) { return !is_chosen(id); });
    if (sharers.members.size() < 2) {
      return Error{"only one thread could execute '" + glob + "': there is nothing to balance"};
    }
    for (LocationId id : sharers.members) apply_factors(id, chosen, times[id.index()]);
    balance(run_, graph_, std::move(paths), std::move(sharers), times);
    return {};
  }

  /// Unless it is said: threads, where there is one process; else ranks, with all of their threads
  /// where any but the first works.
  Over over_of(const std::vector<LocationId>& working, const std::vector<bool>& paths) const {
    if (scenario_.over) return *scenario_.over;
    const bool several = std::any_of(run_.locations.begin(), run_.locations.end(), [&](auto id) {
      return run_.location(id).process != run_.location(working.front()).process;
    });
    if (!several) return Over::threads;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (paths[i] && inside_parallel_region(run_, CallPathId(i))) return Over::all;
    }
    return Over::ranks;
  }

  /// What is balanced is what is scaled, too: once, if several globs choose it.
  void apply_factors(LocationId id, const std::vector<bool>& paths,
                     std::unique_ptr<Column<double>>& times) const {
    const Column<Step>& steps = graph_.steps[id.index()];
    Column<double>& own = other_times(graph_, id, times);
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.kind() != StepKind::work || !paths[step.what] || own[i] != kAsItWas) continue;
      own[i] = static_cast<double>(step.amount) * hosts_[step.what];
    }
  }

  const Scenario& scenario_;
  const Run& run_;
  const EventGraph& graph_;
  Factors hosts_, streams_, other_streams_;
};

}  // namespace

bool Scenario::changes_anything() const {
  return !scalings.empty() || !balanced.empty() || latency != 1 || bandwidth != 1 || kernels != 1 ||
         launch_latency != 1 || perturbation.changes_compute() || perturbation.message_delay ||
         perturbation.changes_links();
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

bool works_at(const EventGraph& graph, LocationId id, const std::vector<bool>& paths) {
  const Column<Step>& steps = graph.steps[id.index()];
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind() == StepKind::work && paths[step.what];
  });
}

Column<double>& other_times(const EventGraph& graph, LocationId id,
                            std::unique_ptr<Column<double>>& times) {
  if (!times) {
    times = std::make_unique<Column<double>>();
    times->resize(graph.steps[id.index()].size(), kAsItWas);
  }
  return *times;
}

Result<std::unique_ptr<Change>> plan(const Scenario& scenario, const Run& run,
                                     const EventGraph& graph) {
  return Planner(scenario, run, graph).plan();
}

}  // namespace culprit::predict
