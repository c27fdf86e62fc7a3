// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sums over rows of findings; see figures.def for the rows.

#include "report/exports/figures.h"

#include <algorithm>

#include "base/files/guarded_path.h"

namespace culprit::report {

void each_value(const blame::Findings& findings, FigureId figure,
                const std::function<void(CallPathId, LocationId, double)>& visit) {
  switch (figure) {
#define FIGURE(id, name, unit, inside, list, expression, meaning)                        \
  case FigureId::id:                                                                     \
    for (const auto& row : findings.list) visit(row.callpath, row.location, expression); \
    return;
#include "report/exports/figures.def"
#undef FIGURE
    case FigureId::none:
      return;
  }
}

std::vector<double> sum_over_locations(const blame::Findings& findings, FigureId figure) {
  std::vector<double> sums(findings.callpaths.size());
  each_value(findings, figure, [&](CallPathId path, LocationId, double value) {
    if (path.valid()) sums[path.index()] += value;
  });
  return sums;
}

Result<void> refuse_negative(const blame::Findings& findings, std::span<const FigureId> figures,
                             std::string_view format) {
  constexpr double kRounding = 1e-9;  // below the resolution of traces
  bool negative = false;
  for (const FigureId figure : figures) {
    each_value(findings, figure,
               [&](CallPathId, LocationId, double value) { negative |= value < -kRounding; });
  }
  if (!negative) return {};
  return Error{"there are times below zero, as in differences, which " + std::string(format) +
               " cannot hold: cube, hatchet and csv can"};
}

PathTree::PathTree(const std::vector<blame::FoundCallPath>& callpaths)
    : children(callpaths.size()) {
  for (size_t i = 0; i < callpaths.size(); ++i) {
    const CallPathId parent = callpaths[i].parent;
    (parent.valid() ? children[parent.index()] : roots).push_back(CallPathId(i));
  }
}

std::vector<CallPathId> chain(const std::vector<blame::FoundCallPath>& callpaths, CallPathId path) {
  std::vector<CallPathId> regions;
  for (; path.valid(); path = callpaths[path.index()].parent) regions.push_back(path);
  std::reverse(regions.begin(), regions.end());
  return regions;
}

Result<void> write_new_file(const std::filesystem::path& file, std::string_view content) {
  return GuardedPath::of_file(file).create(content);
}

}  // namespace culprit::report
