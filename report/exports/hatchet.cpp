// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Hatchet's literal: a list of trees of {frame, metrics, children}. Each figure stands exclusive
// under its id and inclusive as "id (inc)"; summed over locations.

#include <nlohmann/json.hpp>
#include <string>

#include "report/exports/exports.h"
#include "report/exports/figures.h"

namespace culprit::report {
namespace {

using Json = nlohmann::ordered_json;
using Sums = std::array<std::vector<double>, kFigures.size()>;

Sums sums_of(const blame::Findings& findings) {
  Sums sums;
  for (size_t f = 0; f < kFigures.size(); ++f) {
    sums[f] = sum_over_locations(findings, static_cast<FigureId>(f));
  }
  return sums;
}

/// Parents stand before their children.
Sums inclusive_sums(const blame::Findings& findings, Sums sums) {
  for (std::vector<double>& of : sums) {
    for (size_t i = of.size(); i-- > 0;) {
      const CallPathId parent = findings.callpaths[i].parent;
      if (parent.valid()) of[parent.index()] += of[i];
    }
  }
  return sums;
}

}  // namespace

Result<void> export_hatchet(const blame::Findings& findings, const std::filesystem::path& output) {
  const PathTree tree(findings.callpaths);
  const Sums own = sums_of(findings);
  const Sums all = inclusive_sums(findings, own);
  std::vector<Json> nodes(findings.callpaths.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    const blame::FoundCallPath& path = findings.callpaths[i];
    Json metrics = Json::object();
    for (size_t f = 0; f < kFigures.size(); ++f) {
      metrics[std::string(kFigures[f].id)] = own[f][i];
      metrics[std::string(kFigures[f].id) + " (inc)"] = all[f][i];
    }
    nodes[i] = {{"frame", {{"name", path.region}, {"type", "function"}}}, {"metrics", metrics}};
    if (tree.children[i].empty()) continue;
    Json children = Json::array();
    for (CallPathId child : tree.children[i]) {
      children.push_back(std::move(nodes[child.index()]));
    }
    nodes[i]["children"] = std::move(children);
  }
  Json literal = Json::array();
  for (CallPathId root : tree.roots) literal.push_back(std::move(nodes[root.index()]));
  return write_new_file(output,
                        literal.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace culprit::report
