// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Folded stacks: a line for each call path of a rank, "rank 0;main;solve 1234", in whole
// microseconds of allocated time. Made for flamegraph.pl, read by many. A separator in a name
// becomes a colon, since the format has no escapes.

#include <cmath>
#include <map>
#include <string>

#include "base/printable.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"

namespace culprit::report {
namespace {

std::string frame(const std::string& name) {
  std::string text = printable(name);
  for (char& c : text) {
    if (c == ';') c = ':';
  }
  return text;
}

}  // namespace

Result<void> export_folded(const blame::Findings& findings, const std::filesystem::path& output) {
  constexpr FigureId kFigure[] = {FigureId::time};
  if (auto can = refuse_negative(findings, kFigure, "folded"); !can) return can;
  std::map<std::pair<uint32_t, CallPathId>, double> times;
  each_value(findings, FigureId::time, [&](CallPathId path, LocationId location, double time_s) {
    times[{findings.locations[location.index()].rank, path}] += time_s;
  });
  std::string text;
  for (const auto& [key, time_s] : times) {
    const long long micros = std::llround(time_s * 1e6);
    if (micros <= 0) continue;
    text += "rank " + std::to_string(key.first);
    for (CallPathId path : chain(findings.callpaths, key.second)) {
      text += ';' + frame(findings.callpaths[path.index()].region);
    }
    text += ' ' + std::to_string(micros) + '\n';
  }
  return write_new_file(output, text);
}

}  // namespace culprit::report
