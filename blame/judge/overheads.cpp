// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Costs without waits: small messages, short parallel regions, page faults, threads that are in MPI
// at once. Each with the gain of the run without it.
#include <algorithm>
#include <map>
#include <string_view>

#include "blame/findings/findings_fields.h"
#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {

namespace {

constexpr double kMuchOfTheRun = 0.05;

/// Messages are small where they are no longer than this on average, and many.
constexpr uint64_t kSmallMessage = 1024;
constexpr uint64_t kManyMessages = 10'000;
/// The longest time of one small message: one that takes longer waits for something.
constexpr double kSlowestMessage_s = 20e-6;
/// The number of messages assumed to be joined into one, which then cost as much as one.
constexpr double kJoined = 16;

constexpr double kShortRegion_s = 50e-6;
constexpr uint64_t kManyRegions = 1000;

constexpr uint64_t kManyFaults = 100'000;
/// The longest time of one page fault: clearing a page, while several threads contend for the same
/// lock.
constexpr double kSlowestFault_s = 5e-6;
constexpr double kMuchOfCpuTime = 0.1;

constexpr uint64_t kEnoughToCompare = 10;

bool moves_messages(const FoundCallPath& path) {
  const trace::MpiCall* const call = mpi_call(path);
  return call != nullptr &&
         (call->kind == trace::MpiKind::point_to_point || call->kind == trace::MpiKind::request);
}

}  // namespace

void diagnose_small_messages(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis row{.kind = Diagnosis::small_messages, .whole_s = findings.run.wall_s};
  uint64_t bytes = 0, largest = 0;
  std::map<LocationId, uint64_t> sent;
  for (const FoundMessageUse& use : findings.message_use) {
    row.count += use.messages;
    bytes += use.bytes;
    sent[use.location] += use.messages;
    if (use.messages > largest) largest = use.messages, row.callpath = use.callpath;
  }
  if (row.count < kManyMessages || bytes > kSmallMessage * row.count) return;
  for (const FoundCriticalCallPath& path : findings.critical_callpaths) {
    if (moves_messages(findings.callpaths[path.callpath.index()])) row.time_s += path.time_s;
  }
  uint64_t most = 0;
  for (const auto& [location, count] : sent) most = std::max(most, count);
  row.time_s = std::min(row.time_s, 2 * kSlowestMessage_s * static_cast<double>(most));
  row.gain_s = row.time_s * (1 - 1 / kJoined);
  row.matters = row.time_s >= kMuchOfTheRun * row.whole_s;
  found.push_back(row);
}

namespace {

/// A parallel region, with all below it, on all locations.
struct RegionTime {
  uint64_t visits = 0;   ///< by its master
  double on_path_s = 0;  ///< on the critical path
  double useful_s = 0;
};

std::map<CallPathId, RegionTime> region_times(const Findings& findings) {
  const std::vector<CallPathId> region = outermost_regions(findings);
  std::map<CallPathId, RegionTime> times;
  for (const FoundProfile& row : findings.profile) {
    const CallPathId at = region[row.callpath.index()];
    if (!at.valid()) continue;
    RegionTime& time = times[at];
    if (row.callpath == at) time.visits = std::max(time.visits, row.visits);
    // Time in barriers is the runtime's own.
    if (!is_team_barrier(findings.callpaths[row.callpath.index()])) time.useful_s += row.time_s;
  }
  for (const FoundWait& row : findings.waits) {
    const CallPathId at = region[row.callpath.index()];
    if (at.valid() && !is_team_barrier(findings.callpaths[row.callpath.index()])) {
      times[at].useful_s -= row.time_s;
    }
  }
  for (const FoundCriticalCallPath& row : findings.critical_callpaths) {
    const CallPathId at = region[row.callpath.index()];
    if (at.valid()) times[at].on_path_s += row.time_s;
  }
  return times;
}

}  // namespace

/// Thread wake-ups count as a cost of such regions.
void diagnose_short_regions(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis row{.kind = Diagnosis::short_regions, .whole_s = findings.run.wall_s, .gain_s = 0};
  double useful_s = 0;
  for (const auto& [path, time] : region_times(findings)) {
    if (time.visits < kManyRegions ||
        time.on_path_s > kShortRegion_s * static_cast<double>(time.visits)) {
      continue;
    }
    row.time_s += time.on_path_s;
    useful_s += time.useful_s;
    if (time.on_path_s <= row.callpath_s) continue;
    row.callpath = path;
    row.callpath_s = time.on_path_s;
    row.count = time.visits;
  }
  if (row.count == 0) return;
  for (const FoundCriticalCallPath& path : findings.critical_callpaths) {
    if (findings.callpaths[path.callpath.index()].region == trace::pseudo::waking) {
      row.time_s += path.time_s;
    }
  }
  row.gain_s = std::max(0.0, row.time_s - useful_s);
  row.matters = row.gain_s >= kMuchOfTheRun * row.whole_s;
  found.push_back(row);
}

namespace {

/// Returns the path of the library's caller, where a call path ends in a library.
CallPathId without_library(const Findings& findings, CallPathId path) {
  const FoundCallPath& at = findings.callpaths[path.index()];
  const bool in_library = trace::pseudo_of(at.region) == trace::Pseudo::in_library ||
                          is_of(at, trace::Paradigm::library);
  return in_library && at.parent.valid() ? without_library(findings, at.parent) : path;
}

/// Returns the path of the program's own code where all threads together spend most time without
/// waiting.
CallPathId where_most_is_done(const Findings& findings) {
  std::map<CallPathId, double> sums;
  for (const FoundProfile& row : findings.profile) {
    sums[without_library(findings, row.callpath)] += row.time_s;
  }
  for (const FoundWait& row : findings.waits) sums[row.callpath] -= row.time_s;
  CallPathId most;
  double most_s = 0;
  for (const auto& [path, time_s] : sums) {
    const FoundCallPath& at = findings.callpaths[path.index()];
    if (at.start_up || is_of(at, trace::Paradigm::mpi)) continue;
    if (trace::pseudo_region(at.region) != nullptr) continue;
    if (time_s > most_s) most = path, most_s = time_s;
  }
  return most;
}

/// Fills in what samples found of each thread: the place with most of it, and that no thread can
/// gain more than it spends.
void place_page_faults(const Findings& findings, FoundDiagnosis& row) {
  std::map<CallPathId, double> by_path;
  std::map<LocationId, double> by_thread;
  uint64_t faults = 0;
  for (const FoundKernelTime& kernel : findings.kernel_times) {
    by_path[without_library(findings, kernel.callpath)] += kernel.fault_s;
    by_thread[kernel.location] += kernel.fault_s;
    faults += kernel.page_faults;
    row.time_s += kernel.fault_s;
  }
  row.count = faults;
  row.gain_s = 0;
  for (const auto& [thread, time_s] : by_thread) row.gain_s = std::max(row.gain_s, time_s);
  for (const auto& [path, time_s] : by_path) {
    if (time_s > row.callpath_s) row.callpath = path, row.callpath_s = time_s;
  }
}

/// CPU time of the threads that the findings are about, which may be of a part of the run. What the
/// system says of the command includes children that were not recorded, but no daemon, which nobody
/// waits for.
double cpu_time_s(const Findings& findings) {
  const RunInfo& run = findings.run;
  double time_s = 0;
  for (const FoundProcess& process : findings.processes) time_s += process.on_core_s;
  if (!lacks(run.system_s)) time_s = std::max(time_s, run.user_s + run.system_s);
  return time_s > 0 ? std::min(time_s, run.allocation_s) : run.allocation_s;
}

}  // namespace

/// Without samples only their number in the whole run is known.
void diagnose_page_faults(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  const RunInfo& run = findings.run;
  FoundDiagnosis row{.kind = Diagnosis::page_faults, .whole_s = cpu_time_s(findings)};
  if (!findings.kernel_times.empty()) {
    place_page_faults(findings, row);
  } else {
    if (lacks(run.system_s) || run.page_faults < kManyFaults || run.locations == 0) return;
    row.callpath = where_most_is_done(findings);
    row.count = run.page_faults;
    row.time_s = std::min(run.system_s, kSlowestFault_s * static_cast<double>(run.page_faults));
    row.gain_s = row.time_s / static_cast<double>(run.locations);
  }
  row.gain_s = std::min(row.gain_s, run.wall_s);
  row.matters =
      row.time_s >= kMuchOfCpuTime * row.whole_s && row.gain_s >= kMuchOfTheRun * run.wall_s;
  found.push_back(row);
}

/// One thread that made all of these calls one after the other would need `alone` for each.
void diagnose_threads_in_mpi(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis row{.kind = Diagnosis::threads_in_mpi,
                     .whole_s = own_allocation(findings).seconds()};
  struct Process {
    std::map<LocationId, double> shared_s;
    double one_by_one_s = 0;
  };
  std::map<uint32_t, Process> processes;
  for (const FoundSharedCalls& calls : findings.shared_calls) {
    if (calls.alone < kEnoughToCompare) continue;
    Process& process = processes[findings.locations[calls.location.index()].rank];
    const double alone_s = calls.alone_s / static_cast<double>(calls.alone);
    process.shared_s[calls.location] += calls.time_s;
    process.one_by_one_s += alone_s * static_cast<double>(calls.count);
    row.time_s += calls.time_s;
    row.count += calls.count;
    if (calls.time_s > row.callpath_s) row.callpath = calls.callpath, row.callpath_s = calls.time_s;
  }
  if (row.count == 0) return;
  row.gain_s = 0;
  for (const auto& [rank, process] : processes) {
    double longest_s = 0;
    for (const auto& [location, time_s] : process.shared_s) longest_s = std::max(longest_s, time_s);
    row.gain_s = std::max(row.gain_s, longest_s - process.one_by_one_s);
  }
  row.gain_s = std::min(row.gain_s, findings.run.wall_s);
  row.matters = row.gain_s >= kMuchOfTheRun * findings.run.wall_s;
  found.push_back(row);
}

namespace {

/// A thread with less of its life in such a function hinders no other.
constexpr double kMuchOfALife = 0.05;
constexpr double kMuchOfAllTime = 0.1;

/// glibc's, each with one lock for all threads of a process.
bool has_one_lock(std::string_view region) {
  if (trace::pseudo_of(region) != trace::Pseudo::in_library) return false;
  std::string_view function = trace::rest_of_family(region);
  constexpr std::string_view kLocked[] = {"rand",      "random",      "srand",  "srandom",
                                          "localtime", "localtime_r", "mktime", "ctime"};
  if (function.starts_with("__")) function.remove_prefix(2);
  return std::find(std::begin(kLocked), std::end(kLocked), function) != std::end(kLocked);
}

}  // namespace

/// If n threads enter one by one, each would need at most an n-th of the time without the lock.
void diagnose_locked_calls(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis row{
      .kind = Diagnosis::locked_calls, .whole_s = own_allocation(findings).seconds(), .gain_s = 0};
  std::map<LocationId, double> times;
  std::map<CallPathId, double> by_path;
  const auto add = [&](const auto& from, double time_s) {
    if (!has_one_lock(findings.callpaths[from.callpath.index()].region)) return;
    times[from.location] += time_s;
    by_path[from.callpath] += time_s;
  };
  for (const FoundProfile& profile : findings.profile) add(profile, profile.time_s);
  for (const FoundWait& wait : findings.waits) add(wait, -wait.time_s);
  std::map<uint32_t, std::vector<double>> processes;
  for (const auto& [location, time_s] : times) {
    const FoundLocation& thread = findings.locations[location.index()];
    if (time_s >= kMuchOfALife * thread.life_s) processes[thread.rank].push_back(time_s);
  }
  for (const auto& [rank, threads] : processes) {
    if (threads.size() < 2) continue;
    const auto n = static_cast<double>(threads.size());
    row.count = std::max<uint64_t>(row.count, threads.size());
    for (const double time_s : threads) row.time_s += time_s;
    const double longest_s = *std::max_element(threads.begin(), threads.end());
    row.gain_s = std::max(row.gain_s, longest_s * (1 - 1 / n));
  }
  if (row.count == 0) return;
  for (const auto& [path, time_s] : by_path) {
    if (time_s > row.callpath_s) row.callpath = path, row.callpath_s = time_s;
  }
  row.matters = row.time_s >= kMuchOfAllTime * row.whole_s;
  found.push_back(row);
}

}  // namespace culprit::blame
