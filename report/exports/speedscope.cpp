// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// speedscope's file format: frames once, then profiles that refer to them. Sums have no order in
// time, so profiles are sampled ones, a weighted stack for each call path: time over all ranks,
// waiting, delay costs, and the time of each rank.

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "blame/findings/function_id.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"

namespace culprit::report {
namespace {

using Json = nlohmann::ordered_json;

struct Stacks {
  explicit Stacks(const blame::Findings& findings) : findings(findings) {
    std::map<blame::FunctionId, size_t> known;
    for (const blame::FoundCallPath& path : findings.callpaths) {
      const auto [at, fresh] = known.try_emplace(function_of(path), known.size());
      frame_of.push_back(at->second);
      if (!fresh) continue;
      Json frame{{"name", path.region}};
      if (!path.file.empty()) frame["file"] = path.file;
      if (path.line != 0) frame["line"] = path.line;
      frames.push_back(std::move(frame));
    }
  }

  Json profile(const std::string& name, const std::map<CallPathId, double>& weights) const {
    Json samples = Json::array(), shares = Json::array();
    double sum = 0;
    for (const auto& [path, weight] : weights) {
      if (weight <= 0) continue;
      Json stack = Json::array();
      for (CallPathId part : chain(findings.callpaths, path)) {
        stack.push_back(frame_of[part.index()]);
      }
      samples.push_back(std::move(stack));
      shares.push_back(weight);
      sum += weight;
    }
    return {{"type", "sampled"}, {"name", name},       {"unit", "seconds"}, {"startValue", 0},
            {"endValue", sum},   {"samples", samples}, {"weights", shares}};
  }

  const blame::Findings& findings;
  std::vector<size_t> frame_of;  ///< by CallPathId
  Json frames = Json::array();
};

std::map<CallPathId, double> all_ranks(const blame::Findings& findings, FigureId figure) {
  std::map<CallPathId, double> weights;
  each_value(findings, figure,
             [&](CallPathId path, LocationId, double value) { weights[path] += value; });
  return weights;
}

}  // namespace

Result<void> export_speedscope(const blame::Findings& findings,
                               const std::filesystem::path& output) {
  constexpr FigureId kShown[] = {FigureId::time, FigureId::waiting, FigureId::delay};
  if (auto can = refuse_negative(findings, kShown, "speedscope"); !can) return can;
  const Stacks stacks(findings);
  Json profiles = Json::array();
  for (const FigureId id : kShown) {
    profiles.push_back(
        stacks.profile(std::string(kFigures[static_cast<size_t>(id)].name) + ", all ranks",
                       all_ranks(findings, id)));
  }
  std::map<uint32_t, std::map<CallPathId, double>> by_rank;
  each_value(findings, FigureId::time, [&](CallPathId path, LocationId location, double time_s) {
    by_rank[findings.locations[location.index()].rank][path] += time_s;
  });
  for (const auto& [rank, weights] : by_rank) {
    profiles.push_back(stacks.profile("Time, rank " + std::to_string(rank), weights));
  }
  const Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                     {"exporter", "culprit"},
                     {"name", findings.run.command},
                     {"activeProfileIndex", 0},
                     {"shared", {{"frames", stacks.frames}}},
                     {"profiles", profiles}};
  return write_new_file(output, file.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace culprit::report
