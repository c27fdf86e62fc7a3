// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/verdict/device_words.h"

#include <fmt/format.h>

#include "blame/judge/diagnose.h"
#include "report/words/layout.h"

namespace culprit::report {

using blame::Amount;
using blame::Diagnosis;
using blame::Findings;
using blame::Proportion;

std::string device_verdict(const Findings& findings, const PageNames& names) {
  if (blame::device_operations_are_missing(findings)) {
    return findings.devices.size() == 1
               ? "There is no verdict about the device, because some of its operations are missing."
               : "There is no verdict about devices, because some of their operations are missing.";
  }
  const blame::FoundDiagnosis* const row = find_diagnosis(findings, Diagnosis::idle_devices);
  if (row == nullptr) return "";
  const bool one = findings.devices.size() == 1;
  return fmt::format(
      "{} had nothing to do for {} of {} time, and {} of that was while hosts executed {}.",
      one ? "The device" : "The devices", percent(blame::proportion(*row)), one ? "the" : "their",
      percent(Proportion::of(Amount<blame::Row>(row->callpath_s), Amount<blame::Row>(row->time_s))),
      names.code(row->callpath));
}

}  // namespace culprit::report
