// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs are checked first, then brought to one tree of call paths (blame/algebra/integrate.h), then
// figures are summed over locations, run by run. A call path that a run never visited took no time
// there.

#include "predict/model/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "blame/algebra/integrate.h"
#include "predict/model/fit.h"

namespace culprit::predict {
namespace {

using blame::Findings;
using blame::ModelledFigure;

/// Figures that are nowhere more than this part of the run time are left out.
constexpr double kMatters = 1e-3;

double threads_in_all(const Findings& run) {
  return static_cast<double>(std::count_if(run.locations.begin(), run.locations.end(),
                                           [](const auto& row) { return row.stream.empty(); }));
}

/// Returns the worst loss of data of a run; nullptr: none.
const Loss* data_loss(const Findings& run) {
  for (const auto& [name, loss] : run.losses.all()) {
    if (loss.severity == Severity::data_loss) return &loss;
  }
  return nullptr;
}

Result<void> check_runs(std::span<const Findings* const> runs, std::span<const std::string> names) {
  if (runs.size() < kLeastPoints) {
    return Error{fmt::format("a model needs {} runs at least, better with repeats; here {} {}",
                             kLeastPoints, runs.size() == 1 ? "is" : "are", runs.size())};
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    const Findings& run = *runs[i];
    const auto operation = run.run.operation;
    if (operation != blame::Operation::none && operation != blame::Operation::merge &&
        operation != blame::Operation::cut) {
      return Error{fmt::format("'{}' is no run, but made of several (culprit {}): name the runs",
                               names[i], to_string(operation))};
    }
    if (run.run.program != runs[0]->run.program) {
      return Error{fmt::format("these are runs of different programs: '{}' of {}, '{}' of {}",
                               names[0], runs[0]->run.program, names[i], run.run.program)};
    }
    if (!run.identities.violations.empty()) {
      return Error{fmt::format("the result '{}' contradicts itself, so nothing can be built on it",
                               names[i])};
    }
    if (const Loss* loss = data_loss(run)) {
      return Error{fmt::format("'{}' is incomplete: {} Measure it again, or leave it out", names[i],
                               loss->advice)};
    }
  }
  return {};
}

NamedParameter counted(std::span<const Findings* const> runs, const char* name,
                       double (*count)(const Findings&)) {
  NamedParameter parameter{name, {}};
  for (const Findings* run : runs) parameter.values.push_back(count(*run));
  return parameter;
}

/// Those recorded with all runs.
std::vector<NamedParameter> recorded(std::span<const Findings* const> runs) {
  std::vector<NamedParameter> all;
  for (const blame::FoundParameter& row : runs[0]->parameters) {
    NamedParameter parameter{row.name, {}};
    for (const Findings* run : runs) {
      for (const blame::FoundParameter& other : run->parameters) {
        if (other.name == row.name) parameter.values.push_back(other.value);
      }
    }
    if (parameter.values.size() == runs.size()) all.push_back(std::move(parameter));
  }
  return all;
}

bool varies(const NamedParameter& parameter) {
  return std::set(parameter.values.begin(), parameter.values.end()).size() > 1;
}

std::vector<Point> points_of(const std::vector<NamedParameter>& parameters, size_t runs) {
  std::vector<Point> points(runs);
  for (const NamedParameter& parameter : parameters) {
    for (size_t i = 0; i < runs; ++i) points[i].push_back(parameter.values[i]);
  }
  return points;
}

/// Keeps only the wanted parameters. The others must not differ between runs that then count as
/// repeats.
Result<void> restrict_to(const std::vector<std::string>& over,
                         std::vector<NamedParameter>& parameters, size_t runs) {
  if (over.empty()) return {};
  std::vector<NamedParameter> kept, others;
  for (const std::string& name : over) {
    const auto at = std::find_if(parameters.begin(), parameters.end(),
                                 [&](const NamedParameter& each) { return each.name == name; });
    if (at == parameters.end()) {
      return Error{fmt::format("these runs do not differ in {}, or not all say what it was", name)};
    }
    kept.push_back(*at);
    parameters.erase(at);
  }
  others.swap(parameters);
  parameters.swap(kept);
  const std::vector<Point> points = points_of(parameters, runs);
  for (const NamedParameter& other : others) {
    std::map<Point, double> known;
    for (size_t i = 0; i < runs; ++i) {
      if (known.try_emplace(points[i], other.values[i]).first->second == other.values[i]) continue;
      return Error{fmt::format("runs that would count as repeats differ in {}: model over it, too",
                               other.name)};
    }
  }
  return {};
}

Result<std::vector<NamedParameter>> parameters_of(std::span<const Findings* const> runs,
                                                  const ParameterChoice& choice) {
  std::vector<NamedParameter> all = {
      counted(runs, kRanks, [](const Findings& run) { return double{1} * run.run.ranks; }),
      counted(runs, kThreads,
              [](const Findings& run) { return static_cast<double>(threads_of(run)); })};
  for (const NamedParameter& each : choice.named) all.push_back(each);
  for (NamedParameter& each : recorded(runs)) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const NamedParameter& other) {
      return other.name == each.name;
    });
    if (!known) all.push_back(std::move(each));
  }
  std::erase_if(all, [](const NamedParameter& each) { return !varies(each); });
  if (auto good = restrict_to(choice.over, all, runs.size()); !good) return good.error();
  return all;
}

/// Collects figures run by run.
class Collector {
 public:
  Collector(std::span<const Findings* const> runs, const blame::CommonGround& ground)
      : runs_(runs), ground_(ground) {}

  void collect() {
    for (run_ = 0; run_ < runs_.size(); ++run_) {
      const Findings& run = *runs_[run_];
      const double threads = std::max(1.0, threads_in_all(run));
      add(ModelledFigure::wall, CallPathId::none(), "", run.run.wall_s);
      add(ModelledFigure::waiting, CallPathId::none(), "", run.identities.waiting_s / threads);
      for (const auto& row : run.profile) {
        if (!run.locations[row.location.index()].stream.empty()) continue;
        add(ModelledFigure::time, row.callpath, "", row.time_s / threads);
        add(ModelledFigure::visits, row.callpath, "", static_cast<double>(row.visits) / threads);
      }
      for (const auto& row : run.waits) {
        add(ModelledFigure::waiting, row.callpath, row.pattern, row.time_s / threads);
        add(ModelledFigure::waiting, CallPathId::none(), row.pattern, row.time_s / threads);
      }
      for (const auto& row : run.delays) {
        add(ModelledFigure::delay, row.callpath, "", (row.short_s + row.long_s) / threads);
      }
      for (const auto& row : run.critical_callpaths) {
        add(ModelledFigure::critical, row.callpath, "", row.time_s);
        add(ModelledFigure::imbalance, row.callpath, "", row.imbalance_s);
      }
    }
  }

  /// Outputs the figures that matter; visits only at call paths whose time matters.
  void give(const std::vector<Point>& points, Measurements& out) const {
    std::set<CallPathId> large;
    for (const auto& [key, values] : values_) {
      if (std::get<0>(key) == ModelledFigure::time && matters(values))
        large.insert(std::get<1>(key));
    }
    for (const auto& [key, values] : values_) {
      const auto& [figure, path, pattern] = key;
      if (figure == ModelledFigure::visits ? !large.contains(path) : !matters(values)) {
        ++out.left_out;
        continue;
      }
      Series series{figure, "", path, pattern, {}};
      for (size_t i = 0; i < runs_.size(); ++i) add_value(series.samples, points[i], values[i]);
      out.series.push_back(std::move(series));
    }
  }

 private:
  using Key = std::tuple<ModelledFigure, CallPathId, std::string>;

  void add(ModelledFigure figure, CallPathId path, const std::string& pattern, double value) {
    auto& values = values_[{figure, ground_.inputs[run_](path), pattern}];
    values.resize(runs_.size());
    values[run_] += value;
  }

  bool matters(const std::vector<double>& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] > kMatters * runs_[i]->run.wall_s) return true;
    }
    return false;
  }

  std::span<const Findings* const> runs_;
  const blame::CommonGround& ground_;
  size_t run_ = 0;
  std::map<Key, std::vector<double>> values_;
};

Machine machine_of(std::span<const Findings* const> runs, std::span<const std::string> parameters) {
  Machine machine;
  for (const Findings* run : runs) {
    machine.ranks = std::max(machine.ranks, double{1} * run->run.ranks);
    machine.threads = std::max(machine.threads, static_cast<double>(threads_of(*run)));
  }
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p] == kRanks) machine.ranks_at = p;
    if (parameters[p] == kThreads) machine.threads_at = p;
  }
  return machine;
}

}  // namespace

double Machine::cores(std::span<const double> point) const {
  return (ranks_at ? point[*ranks_at] : ranks) * (threads_at ? point[*threads_at] : threads);
}

size_t threads_of(const Findings& findings) {
  std::map<uint32_t, size_t> threads;
  size_t most = 1;
  for (const blame::FoundLocation& row : findings.locations) {
    if (row.stream.empty()) most = std::max(most, ++threads[row.rank]);
  }
  return most;
}

Result<Measurements> measurements_of(std::span<const Findings* const> runs,
                                     std::span<const std::string> names,
                                     const ParameterChoice& choice) {
  if (auto good = check_runs(runs, names); !good) return good.error();
  const auto parameters = parameters_of(runs, choice);
  if (!parameters) return parameters.error();
  Measurements out;
  for (const NamedParameter& each : *parameters) out.parameters.push_back(each.name);
  const std::vector<Point> points = points_of(*parameters, runs.size());
  if (auto good = check_points(out.parameters, points); !good) return good.error();
  blame::CommonGround ground = blame::integrate(runs);
  Collector collector(runs, ground);
  collector.collect();
  collector.give(points, out);
  out.callpaths = std::move(ground.callpaths);
  out.machine = machine_of(runs, out.parameters);
  return out;
}

}  // namespace culprit::predict
