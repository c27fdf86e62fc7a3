// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Inputs are brought to common ground, then their lists are combined one after another: rows of the
// same thing become one.

#include "blame/algebra/combine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "blame/algebra/integrate.h"
#include "blame/algebra/sum_rows.h"
#include "blame/findings/findings_fields.h"

namespace culprit::blame {
namespace {

/// Combines all lists whose rows are sums, each over the rows of all inputs.
void combine_lists(std::span<const WeightedFindings> inputs, const CommonGround& ground,
                   Findings& out) {
  const auto combine_list = [&]<class Row>(std::vector<Row> Findings::* list) {
    Rows<Row> rows;
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (const Row& row : inputs[i].findings->*list) {
        rows.add(row, ground.inputs[i], inputs[i].weight);
      }
    }
    out.*list = rows.take();
  };
  visit_members_of<Origin::each_rank>(combine_list);
  combine_list(&Findings::unattributed);
  combine_list(&Findings::critical_callpaths);
  combine_list(&Findings::callpath_times);
  combine_list(&Findings::efficiencies);
}

/// Maps ids of the common ground to those of the first input. A call path, location or metric that
/// the first input lacks is added to it on first use.
class TakenIn {
 public:
  TakenIn(const CommonGround& ground, Findings& first)
      : ground_(ground),
        first_(first),
        callpaths_(inverse(ground.inputs.front().callpaths, ground.callpaths.size())),
        locations_(inverse(ground.inputs.front().locations, ground.locations.size())),
        metrics_(inverse(ground.inputs.front().metrics, ground.metrics.size())) {}

  CallPathId operator()(CallPathId common) {
    if (!common.valid() || callpaths_[common.index()].valid()) return place(common);
    FoundCallPath path = ground_.callpaths[common.index()];
    path.parent = (*this)(path.parent);
    callpaths_[common.index()] = CallPathId(first_.callpaths.size());
    first_.callpaths.push_back(std::move(path));
    return place(common);
  }
  LocationId operator()(LocationId common) {
    return take(common, ground_.locations, locations_, first_.locations);
  }
  MetricId operator()(MetricId common) {
    return take(common, ground_.metrics, metrics_, first_.metrics);
  }

 private:
  template <class IdType>
  static std::vector<IdType> inverse(const std::vector<IdType>& ids, size_t size) {
    std::vector<IdType> of(size);
    for (size_t i = 0; i < ids.size(); ++i) of[ids[i].index()] = IdType(i);
    return of;
  }
  template <class IdType, class Row>
  static IdType take(IdType common, const std::vector<Row>& ground, std::vector<IdType>& places,
                     std::vector<Row>& rows) {
    if (!common.valid()) return common;
    IdType& at = places[common.index()];
    if (at.valid()) return at;
    at = IdType(rows.size());
    rows.push_back(ground[common.index()]);
    return at;
  }
  CallPathId place(CallPathId common) const {
    return common.valid() ? callpaths_[common.index()] : common;
  }

  const CommonGround& ground_;
  Findings& first_;
  std::vector<CallPathId> callpaths_;
  std::vector<LocationId> locations_;
  std::vector<MetricId> metrics_;
};

}  // namespace

Findings combine(std::span<const WeightedFindings> inputs) {
  std::vector<const Findings*> all;
  for (const WeightedFindings& input : inputs) all.push_back(input.findings);
  CommonGround ground = integrate(all);
  Findings out;
  out.run = all.back()->run;
  out.run.notes.clear();
  out.run.overhead_pct = column::OptionalPercent::first();
  clear_sums(out.run);
  out.run.events = all.back()->run.events;
  std::set<std::string> notes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [findings, weight] = inputs[i];
    RowSums().add(out.run, findings->run, weight);
    RowSums().add(out.identities, findings->identities, weight);
    RowSums().add(out.start_up, findings->start_up, weight);
    RowSums().add(out.progress, findings->progress, weight);
    for (size_t l = 0; l < findings->locations.size(); ++l) {
      FoundLocation& to = ground.locations[ground.inputs[i].locations[l].index()];
      to.life_s += weight * findings->locations[l].life_s;
      to.waiting_s += weight * findings->locations[l].waiting_s;
    }
    for (const std::string& note : findings->run.notes) {
      if (notes.insert(note).second) out.run.notes.push_back(note);
    }
    for (const std::string& violation : findings->identities.violations) {
      out.identities.violations.push_back(
          fmt::format("in run {} of {}: {}", i + 1, inputs.size(), violation));
    }
    out.losses.merge(findings->losses);
    if (findings->run.intervals != all.front()->run.intervals) out.run.intervals = 0;
  }
  out.run.events = all.back()->run.events;
  out.locations = std::move(ground.locations);
  out.callpaths = std::move(ground.callpaths);
  out.metrics = std::move(ground.metrics);
  // Ranks are the same if their numbers are; the topology is taken from the runs after.
  if (std::all_of(all.begin(), all.end(),
                  [&](const Findings* one) { return one->run.ranks == all.back()->run.ranks; })) {
    out.topologies = all.back()->topologies;
    out.topology_places = all.back()->topology_places;
  }
  combine_lists(inputs, ground, out);
  if (out.run.intervals == 0) out.location_times.clear(), out.callpath_times.clear();
  return out;
}

Findings mean_of(std::span<const Findings* const> inputs) {
  std::vector<WeightedFindings> weighted;
  const double weight = 1.0 / static_cast<double>(inputs.size());
  for (const Findings* input : inputs) weighted.push_back({input, weight});
  return combine(weighted);
}

Findings merge(std::span<const Findings* const> inputs) {
  Findings out = *inputs.front();
  out.inputs.clear();  // the caller of merge() names the inputs
  const CommonGround ground = integrate(inputs);
  TakenIn taken_in(ground, out);
  std::set<MetricId> known;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::set<MetricId> own;
    for (FoundCount row : inputs[i]->counts) {
      translate(row, ground.inputs[i]);
      own.insert(row.metric);
      if (i == 0 || known.contains(row.metric)) continue;
      row.metric = taken_in(row.metric);
      row.callpath = taken_in(row.callpath);
      row.location = taken_in(row.location);
      out.counts.push_back(row);
    }
    known.merge(own);
  }
  return out;
}

std::string unlike(std::span<const Findings* const> runs, bool of_any_size) {
  std::set<std::string> programs;
  std::set<uint32_t> ranks;
  std::map<std::string, size_t> in_runs;  // the number of runs that have the call path
  for (const Findings* run : runs) {
    if (!run->run.program.empty()) programs.insert(run->run.program);
    ranks.insert(run->run.ranks);
    std::set<std::string> names;
    for (const FoundCallPath& path : run->callpaths) names.insert(path.name);
    for (const std::string& name : names) ++in_runs[name];
  }
  std::vector<std::string> why;
  if (programs.size() > 1) {
    why.push_back(fmt::format("their programs are {}", fmt::join(programs, ", ")));
  }
  if (std::none_of(in_runs.begin(), in_runs.end(),
                   [&](const auto& entry) { return entry.second == runs.size(); })) {
    why.emplace_back("no call path is in all of them");
  }
  if (ranks.size() > 1 && !of_any_size) {
    why.push_back(fmt::format("they have {} ranks", fmt::join(ranks, ", ")));
  }
  return why.empty() ? "" : fmt::format("{}{}.", kUnlike, fmt::join(why, "; "));
}

}  // namespace culprit::blame
