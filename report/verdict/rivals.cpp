// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each sentence has the share, the evidence, and what the run would gain.
#include "report/verdict/rivals.h"

#include <fmt/format.h>

#include <algorithm>

#include "blame/findings/findings_fields.h"
#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "report/verdict/gains.h"
#include "trace/pseudo_regions.h"

namespace culprit::report {
namespace {

using blame::Diagnosis;
using blame::Findings;
using blame::FoundDiagnosis;

/// "2.1 us", whatever the run's unit is.
std::string short_time(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.2g} us", seconds * 1e6)
                        : fmt::format("{:.2g} ms", seconds * 1e3);
}

/// "read_re2": what contains a call.
std::string caller(const Findings& findings, const PageNames& names, CallPathId path) {
  const CallPathId parent = findings.callpaths[path.index()].parent;
  return names.region(parent.valid() ? parent : path);
}

/// What costs, its share with what it is a share of, and the change that helps.
struct Words {
  std::string share, what;
  std::string_view change;
};

Words small_messages(const Findings& findings, const PageNames& names, const FoundDiagnosis& row) {
  uint64_t bytes = 0, messages = 0;
  for (const blame::FoundMessageUse& use : findings.message_use) {
    bytes += use.bytes;
    messages += use.messages;
  }
  return {rounded(blame::proportion(row)) + " is for",
          fmt::format("{} of {} bytes from {}", counted(row.count, "message"),
                      grouped(messages > 0 ? bytes / messages : 0),
                      caller(findings, names, row.callpath)),
          "sixteen joined to one"};
}

Words short_regions(const Findings& findings, const PageNames& names, const FoundDiagnosis& row) {
  const double each_s = row.count > 0 ? row.callpath_s / static_cast<double>(row.count) : 0;
  return {rounded(blame::proportion(row)) + " is for",
          fmt::format("{} of {} each in {}", counted(row.count, "parallel region"),
                      short_time(each_s), caller(findings, names, row.callpath)),
          "on one thread"};
}

Words page_faults(const PageNames& names, const FoundDiagnosis& row) {
  const std::string_view where = row.callpath_s <= 0               ? "probably"
                                 : row.callpath_s < row.time_s / 2 ? "many of them"
                                                                   : "most of them";
  return {rounded(blame::proportion(row)) + " of CPU time is the kernel's, for",
          fmt::format("{}, {} in {}", counted(row.count, "page fault"), where,
                      names.code(row.callpath)),
          "if memory is kept, or in huge pages"};
}

Words threads_in_mpi(const PageNames& names, const FoundDiagnosis& row) {
  return {rounded(blame::proportion(row)) + " is",
          fmt::format("{} on several threads of a process at once", names.region(row.callpath)),
          "one at a time"};
}

Words locked_calls(const Findings& findings, const PageNames& names, const FoundDiagnosis& row) {
  const std::string_view function =
      trace::rest_of_family(findings.callpaths[row.callpath.index()].region);
  return {rounded(blame::proportion(row)) + " is",
          fmt::format("{} in {} on {}, which has one lock for all", function,
                      caller(findings, names, row.callpath), counted(row.count, "thread")),
          "without it"};
}

/// Returns whether threads other than the first have hardly any work outside of regions that are
/// too short for them: then the code that runs meanwhile keeps them from nothing.
bool is_all_work_of_threads(const Findings& findings, const FoundDiagnosis& row) {
  constexpr double kNearlyAll = 0.9;
  if (row.kind != Diagnosis::short_regions) return false;
  double in_regions_s = 0;
  for (const blame::FoundCriticalCallPath& path : findings.critical_callpaths) {
    for (CallPathId at = path.callpath; at.valid(); at = findings.callpaths[at.index()].parent) {
      if (!is_parallel(findings.callpaths[at.index()])) continue;
      in_regions_s += path.time_s;
      break;
    }
  }
  return row.time_s >= kNearlyAll * in_regions_s;
}

/// Nothing for a diagnosis that is no rival.
Words words_of(const Findings& findings, const PageNames& names, const FoundDiagnosis& row) {
  switch (row.kind) {
    case Diagnosis::small_messages:
      return small_messages(findings, names, row);
    case Diagnosis::short_regions:
      return short_regions(findings, names, row);
    case Diagnosis::page_faults:
      return page_faults(names, row);
    case Diagnosis::threads_in_mpi:
      return threads_in_mpi(names, row);
    case Diagnosis::locked_calls:
      return locked_calls(findings, names, row);
    default:
      return {};
  }
}

}  // namespace

std::vector<Rival> rivals(const Findings& findings, const PageNames& names,
                          const TimeFormat& time) {
  std::vector<Rival> list;
  for (const FoundDiagnosis& row : findings.diagnoses) {
    if (!row.matters || blame::lacks(row.gain_s) || !row.callpath.valid()) continue;
    const Words words = words_of(findings, names, row);
    if (words.what.empty()) continue;
    list.push_back({row.kind, row.callpath, row.gain_s, words.what, words.change,
                    fmt::format("{} {}; {}: {} shorter.", words.share, words.what, words.change,
                                gained(row.gain_s, findings, time)),
                    is_all_work_of_threads(findings, row)});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Rival& a, const Rival& b) { return a.gain_s > b.gain_s; });
  return list;
}

}  // namespace culprit::report
