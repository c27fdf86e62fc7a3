// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Extra-P's JSON Lines: one value a line, of a figure at a call path, over all locations. Files of
// several runs are put behind each other (cat) and give the points of a model; the parameter p is
// the number of ranks. "->" separates regions there, so one in a name becomes "-&gt;".

#include <nlohmann/json.hpp>
#include <string>

#include "report/exports/exports.h"
#include "report/exports/figures.h"

namespace culprit::report {
namespace {

using Json = nlohmann::ordered_json;

std::string callpath_text(const blame::Findings& findings, CallPathId path) {
  std::string text;
  for (CallPathId part : chain(findings.callpaths, path)) {
    std::string name = findings.callpaths[part.index()].region;
    for (size_t at = 0; (at = name.find("->", at)) != std::string::npos; at += 5) {
      name.replace(at, 2, "-&gt;");
    }
    text += (text.empty() ? "" : "->") + name;
  }
  return text;
}

}  // namespace

Result<void> export_extrap(const blame::Findings& findings, const std::filesystem::path& output) {
  std::string text;
  for (size_t f = 0; f < kFigures.size(); ++f) {
    const std::vector<double> sums = sum_over_locations(findings, static_cast<FigureId>(f));
    for (size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] <= 0) continue;
      const Json line = {{"params", {{"p", findings.run.ranks}}},
                         {"callpath", callpath_text(findings, CallPathId(i))},
                         {"metric", kFigures[f].id},
                         {"value", sums[i]}};
      text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    }
  }
  return write_new_file(output, text);
}

}  // namespace culprit::report
