// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Extra-P's JSON Lines: one value a line, of a figure at a call path, over all locations. Several
// runs give the points of a model; the parameter p is the number of ranks, and runs of as many are
// repeats. "->" separates regions there, so one in a name becomes "-&gt;".

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "blame/algebra/integrate.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"

namespace culprit::report {
namespace {

using Json = nlohmann::ordered_json;

std::string callpath_text(const std::vector<blame::FoundCallPath>& callpaths, CallPathId path) {
  std::string text;
  for (CallPathId part : chain(callpaths, path)) {
    std::string name = callpaths[part.index()].region;
    for (size_t at = 0; (at = name.find("->", at)) != std::string::npos; at += 5) {
      name.replace(at, 2, "-&gt;");
    }
    text += (text.empty() ? "" : "->") + name;
  }
  return text;
}

/// Returns the sums of each run, by call path of the common ground.
std::vector<std::vector<double>> sums_of(std::span<const blame::Findings* const> runs,
                                         const blame::CommonGround& ground, FigureId figure) {
  std::vector<std::vector<double>> sums;
  for (size_t r = 0; r < runs.size(); ++r) {
    const std::vector<double> own = sum_over_locations(*runs[r], figure);
    std::vector<double>& of_run = sums.emplace_back(ground.callpaths.size());
    for (size_t i = 0; i < own.size(); ++i) {
      of_run[ground.inputs[r].callpaths[i].index()] += own[i];
    }
  }
  return sums;
}

}  // namespace

Result<void> export_extrap(std::span<const blame::Findings* const> runs,
                           const std::filesystem::path& output) {
  for (const blame::Findings* run : runs) {
    if (run->run.operation == blame::Operation::diff) {
      return Error{"a difference is no measurement that Extra-P could fit: export its runs"};
    }
  }
  const blame::CommonGround ground = blame::integrate(runs);
  std::string text;
  for (size_t f = 0; f < kFigures.size(); ++f) {
    const auto sums = sums_of(runs, ground, static_cast<FigureId>(f));
    for (size_t i = 0; i < ground.callpaths.size(); ++i) {
      const auto has = [&](const std::vector<double>& of_run) { return of_run[i] > 0; };
      if (std::none_of(sums.begin(), sums.end(), has)) continue;
      const std::string callpath = callpath_text(ground.callpaths, CallPathId(i));
      for (size_t r = 0; r < runs.size(); ++r) {
        const Json line = {{"params", {{"p", runs[r]->run.ranks}}},
                           {"callpath", callpath},
                           {"metric", kFigures[f].id},
                           {"value", sums[r][i]}};
        text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
      }
    }
  }
  return write_new_file(output, text);
}

Result<void> export_extrap(const blame::Findings& findings, const std::filesystem::path& output) {
  const blame::Findings* const one[] = {&findings};
  return export_extrap(one, output);
}

}  // namespace culprit::report
