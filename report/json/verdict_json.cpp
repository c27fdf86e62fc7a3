// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The values that the sentence is made of, each under a separate key.
#include "report/json/verdict_json.h"

#include <nlohmann/json.hpp>

#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "report/verdict/gains.h"
#include "report/verdict/verdict.h"
#include "report/verdict/when.h"
#include "report/words/estimates.h"

namespace culprit::report {
namespace {

using blame::Findings;
using Json = nlohmann::ordered_json;

/// Returns the function that a call path ends in, or the program's that has called the library that
/// it ends in; null for none.
Json function_of(const Findings& findings, CallPathId id) {
  if (!id.valid()) return {};
  const auto in_library = [&] {
    const blame::FoundCallPath& path = findings.callpaths[id.index()];
    return path.parent.valid() && is_of(path, trace::Paradigm::library);
  };
  while (in_library()) id = findings.callpaths[id.index()].parent;
  const blame::FoundCallPath& path = findings.callpaths[id.index()];
  return {{"name", path.region},
          {"file", path.file.empty() ? Json() : Json(path.file)},
          {"line", path.line == 0 ? Json() : Json(path.line)}};
}

Json name_of(const Findings& findings, CallPathId id) {
  return id.valid() ? Json(findings.callpaths[id.index()].name) : Json();
}

/// Returns the bounds of a cause's cost; null if it is exact.
Json interval_json(const Findings& findings, const blame::Cause& cause) {
  const blame::FoundEstimate* found =
      find_estimate(findings, blame::EstimatedFigure::cause, cause.costliest);
  if (found == nullptr) return {};
  return {{"low_s", found->low_s},
          {"high_s", found->high_s},
          {"share_low", found->share_low},
          {"share_high", found->share_high}};
}

Json cause_json(const Findings& findings, const blame::Cause& cause) {
  Json locations = Json::array();
  for (const blame::Share& share : cause.shares) {
    locations.push_back(
        {{"location", findings.locations[share.location.index()].name}, {"cost_s", share.time_s}});
  }
  return {{"function", function_of(findings, cause.example)},
          {"with_callees", cause.with_callees},
          {"callee", function_of(findings, cause.callee)},
          {"callpath", name_of(findings, cause.costliest)},
          {"cost_s", cause.cost_s},
          {"share", blame::Proportion::of(cause.cost(), blame::own_waiting(findings)).value()},
          {"interval", interval_json(findings, cause)},
          {"through", function_of(findings, cause.through)},
          {"through_s", cause.through_s},
          {"locations", locations}};
}

Json tile_json(const TileTotal& total, const Findings& findings) {
  return {{"tile", to_string(total.tile)},
          {"time_s", total.time_s},
          {"callpath", name_of(findings, total.callpath)}};
}

/// Returns the unexplained time; null if all time is explained.
Json audit_json(const Audit& audit, const Findings& findings) {
  if (!audit.callpath.valid()) return {};
  Json locations = Json::array();
  for (const blame::Share& share : audit.shares) {
    locations.push_back(
        {{"location", findings.locations[share.location.index()].name}, {"time_s", share.time_s}});
  }
  return {{"share", audit.unexplained.value()},
          {"callpath", name_of(findings, audit.callpath)},
          {"locations", locations},
          {"begin_s", audit.begin_s},
          {"end_s", audit.end_s}};
}

/// Returns when the first cause costs, and whether it moves; null if unknown.
Json when_json(const Verdict& verdict, const Findings& findings) {
  if (verdict.causes.empty()) return {};
  const blame::FoundDistribution* const row = over_time(findings, verdict.causes.front());
  if (row == nullptr) return {};
  const bool steady = row->course == blame::Course::steady;
  return {{"movement", to_string(row->movement)},
          {"course", to_string(row->course)},
          {"steps_are", to_string(row->steps_are)},
          {"step", steady ? Json() : Json(row->step)},
          {"period", row->period == 0 ? Json() : Json(row->period)},
          {"begin_s", steady ? Json() : Json(row->begin_s)},
          {"end_s", steady ? Json() : Json(row->end_s)},
          {"change_s", row->change_s}};
}

/// Returns the gain of a change of the first cause; null if unknown.
Json gain_json(const Verdict& verdict, const Findings& findings) {
  if (verdict.causes.empty()) return {};
  const blame::FoundFunctionGain* const row = gain_of(findings, verdict.causes.front());
  if (row == nullptr) return {};
  return {{"kind", to_string(row->kind)}, {"gain_s", row->gain_s}};
}

Json cores_json(const CoreShortage& cores) {
  if (!cores.known) return {};
  return {{"share", cores.share},
          {"core_wait_s", cores.core_wait_s},
          {"working_s", cores.working_s},
          {"node", cores.node},
          {"processes", cores.processes},
          {"threads", cores.threads},
          {"cores", cores.cores == 0 ? Json() : Json(cores.cores)}};
}

}  // namespace

Json verdict_json(const Findings& findings) {
  const Verdict verdict = judge(findings, PageNames(findings));
  Json causes = Json::array();
  for (const blame::Cause& cause : verdict.causes) causes.push_back(cause_json(findings, cause));
  Json lost = Json::array(), rivals = Json::array();
  for (const TileTotal& total : verdict.lost) lost.push_back(tile_json(total, findings));
  for (const Rival& rival : verdict.rivals) {
    rivals.push_back(
        {{"kind", to_string(rival.kind)}, {"gain_s", rival.gain_s}, {"text", rival.text}});
  }
  Json savings = Json::array();
  for (const Saving& each : verdict.savings) {
    savings.push_back({{"kind", each.kind},
                       {"callpath", name_of(findings, each.callpath)},
                       {"what", each.what},
                       {"change", each.change},
                       {"gain_s", each.gain_s}});
  }
  Json common;
  if (verdict.common.example.valid()) {
    common = {{"function", function_of(findings, verdict.common.example)},
              {"cost_s", verdict.common.cost_s}};
  }
  return {{"kind", to_string(verdict.kind)},
          {"waiting", to_string(verdict.waiting)},
          {"text", verdict.text},
          {"warning", verdict.warning.empty() ? Json() : Json(verdict.warning)},
          {"more", verdict.more},
          {"waiting_share", verdict.waiting_share.value()},
          {"causes", causes},
          {"common_caller", common},
          {"when", when_json(verdict, findings)},
          {"gain", gain_json(verdict, findings)},
          {"unexplained", audit_json(verdict.audit, findings)},
          {"lost", lost},
          {"rivals", rivals},
          {"savings", savings},
          {"core_shortage", cores_json(verdict.cores)}};
}

}  // namespace culprit::report
