// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All judgements are in the findings (blame/judge/); this file puts them into words.
#include "report/text_page/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "blame/judge/diagnose.h"

namespace culprit::report {

namespace {

using blame::Amount;
using blame::Diagnosis;
using blame::Findings;
using blame::FoundDiagnosis;
using blame::FoundRefill;
using blame::Proportion;

constexpr size_t kTopCorners = 8;  ///< those of a cube

template <class Part, class Whole>
std::string entry(Amount<Part> part, Amount<Whole> whole, const std::string& text,
                  const TimeFormat& time) {
  return beside(fmt::format("   {} {}", right(time(part.seconds()), 11),
                            right(percent(Proportion::of(part, whole)), 8)),
                text);
}

std::string corner_of(const FoundRefill& row) {
  if (row.coordinates.empty()) return fmt::format("sweeps that start at rank {}", row.rank);
  return fmt::format("sweeps that start at rank {}, place ({}) of {}", row.rank, row.coordinates,
                     row.topology);
}

/// Returns for a row's call path how many of its receivers never got data.
std::string silence(const Findings& findings, CallPathId path) {
  uint64_t silent = 0, all = 0;
  for (const blame::FoundMessageUse& use : findings.message_use) {
    if (use.callpath != path) continue;
    silent += use.silent_receivers;
    all += use.receivers;
  }
  if (silent == 0) return "";
  return fmt::format(" There, {} of {} of sender and receiver never had data.", grouped(silent),
                     counted(all, "pair"));
}

std::string told(const FoundDiagnosis& row, std::string_view what, const PageNames& names,
                 const TimeFormat& time) {
  const std::string waited = row.time_s > 0
                                 ? fmt::format("; {} of waiting ({}) goes with them",
                                               time(row.time_s), percent(blame::proportion(row)))
                                 : std::string();
  return fmt::format("{} of {} {}{}. Most: {}.", grouped(row.count),
                     counted(row.all_count, "message"), what, waited,
                     names.path(row.callpath, page_width() / 2));
}

}  // namespace

std::string refill_section(const Findings& findings, const TimeFormat& time) {
  double sum_s = 0;
  for (const FoundRefill& row : findings.refills) sum_s += row.time_s;
  const Amount<blame::Allocation> whole = blame::allocation(findings);
  if (sum_s < blame::kWorthALine * whole.seconds()) return "";
  std::string page =
      "\nPIPELINE REFILLS: waiting for the front of a sweep that has turned  (share: of allocated "
      "time)\n";
  const size_t shown = std::min(findings.refills.size(), kTopCorners);
  for (size_t i = 0; i < shown; ++i) {
    const FoundRefill& row = findings.refills[i];
    page += entry(Amount<blame::Waiting>(row.time_s), whole,
                  fmt::format("{}: {} on {}", corner_of(row), counted(row.waits, "wait"),
                              counted(row.locations, "location")),
                  time);
  }
  if (shown < findings.refills.size()) {
    page +=
        wrapped(fmt::format("and {}", counted(findings.refills.size() - shown, "other corner")), 2);
  }
  return page;
}

std::string message_section(const Findings& findings, const PageNames& names,
                            const TimeFormat& time) {
  std::string page;
  if (const auto* row = find_diagnosis(findings, Diagnosis::empty_messages)) {
    page += wrapped(
        told(*row, "had no data", names, time) + silence(findings, row->callpath) +
            " Unless they are signals: tell receivers beforehand from whom data will come, and "
            "send nothing else.",
        2);
  }
  if (const auto* row = find_diagnosis(findings, Diagnosis::repeated_messages)) {
    page += wrapped(told(*row, "came right after another one to the same receiver", names, time) +
                        " Send both as one: in one buffer, or with a datatype.",
                    2);
  }
  return page.empty() ? "" : "\nMESSAGES THAT SAY LITTLE\n" + page;
}

}  // namespace culprit::report
