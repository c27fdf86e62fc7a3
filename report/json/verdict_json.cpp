// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The same values that the sentence is made of, each under a key of its own.
#include "report/json/verdict_json.h"

#include <nlohmann/json.hpp>

#include "blame/diagnose/diagnose.h"
#include "report/verdict/verdict.h"

namespace culprit::report {
namespace {

using blame::Findings;
using Json = nlohmann::ordered_json;

/// What a call path ends in; null for none.
Json function_of(const Findings& findings, CallPathId id) {
  if (!id.valid()) return {};
  const blame::FoundCallPath& path = findings.callpaths[id.index()];
  return {{"name", path.region},
          {"file", path.file.empty() ? Json() : Json(path.file)},
          {"line", path.line == 0 ? Json() : Json(path.line)}};
}

Json name_of(const Findings& findings, CallPathId id) {
  return id.valid() ? Json(findings.callpaths[id.index()].name) : Json();
}

Json cause_json(const Findings& findings, const Cause& cause) {
  Json locations = Json::array();
  for (const Share& share : cause.shares) {
    locations.push_back(
        {{"location", findings.locations[share.location.index()].name}, {"cost_s", share.time_s}});
  }
  return {{"function", function_of(findings, cause.example)},
          {"with_callees", cause.with_callees},
          {"callpath", name_of(findings, cause.costliest)},
          {"cost_s", cause.cost_s},
          {"share", blame::Proportion::of(cause.cost(), blame::own_waiting(findings)).value()},
          {"through", function_of(findings, cause.through)},
          {"through_s", cause.through_s},
          {"locations", locations}};
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
  for (const Cause& cause : verdict.causes) causes.push_back(cause_json(findings, cause));
  Json common;
  if (verdict.common.example.valid()) {
    common = {{"function", function_of(findings, verdict.common.example)},
              {"cost_s", verdict.common.cost_s}};
  }
  return {{"kind", to_string(verdict.kind)},
          {"waiting", to_string(verdict.waiting)},
          {"text", verdict.text},
          {"waiting_share", verdict.waiting_share.value()},
          {"causes", causes},
          {"common_caller", common},
          {"core_shortage", cores_json(verdict.cores)}};
}

}  // namespace culprit::report
