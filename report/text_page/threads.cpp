// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each section lists its largest rows, and is left out where none of them is worth a change.
#include "report/text_page/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "blame/judge/causes.h"
#include "blame/judge/diagnose.h"
#include "trace/pseudo_regions.h"

namespace culprit::report {

namespace {

using blame::Amount;
using blame::Findings;
using blame::FoundParallelism;
using blame::FoundRankSpread;
using blame::Granularity;
using blame::Proportion;

constexpr size_t kTopRows = 5;
/// Of the time that the cores of a region's threads were taken for; less is not worth a change.
constexpr double kWorthChanging = 0.02;
/// Of the allocated time.
constexpr double kMuchOfKernel = 0.02;

std::string entry(double part_s, Amount<blame::Allocation> whole, const std::string& text,
                  const TimeFormat& time) {
  return beside(
      fmt::format("   {} {}", right(time(part_s), 11),
                  right(percent(Proportion::of(Amount<blame::Allocation>(part_s), whole)), 8)),
      text);
}

std::string_view advice_words(Granularity advice) {
  switch (advice) {
    case Granularity::coarsen:
      return "larger pieces of work for each thread would cost less overhead";
    case Granularity::refine:
      return "smaller pieces of work would leave fewer threads idle";
    case Granularity::change:
      return "pieces of any size will not do: look for other work that can be done at the same "
             "time";
    case Granularity::effective:
      break;
  }
  return "the threads are well used";
}

/// Time in calls that wait mirrors what others do.
bool is_work(const Findings& findings, CallPathId id) {
  const blame::FoundCallPath& path = findings.callpaths[id.index()];
  return !path.start_up && !blame::waits_for_others(path) &&
         (trace::pseudo_region(path.region) == nullptr || trace::is_part_of_caller(path.region));
}

}  // namespace

std::string parallelism_section(const Findings& findings, const PageNames& names,
                                const TimeFormat& time) {
  const Amount<blame::Allocation> whole = blame::allocation(findings);
  std::string page;
  size_t rows = 0;
  for (const FoundParallelism& row : findings.parallelism) {
    const double lost_s = row.idle_s + row.overhead_s;
    const bool matters = row.callpath.valid() && row.advice != Granularity::effective &&
                         lost_s >= kWorthChanging * whole.seconds();
    if (!matters) continue;
    if (rows++ == kTopRows) break;
    page += entry(lost_s, whole, names.path(row.callpath, room_behind(text_column())), time);
    page += wrapped(fmt::format("{} idle, {} overhead, {} work: {}.", time(row.idle_s),
                                time(row.overhead_s), time(row.work_s), advice_words(row.advice)),
                    text_column());
  }
  if (page.empty()) return "";
  return "\nPARALLEL REGIONS: idle threads and overhead  (share: of allocated time)\n" + page;
}

std::string spread_section(const Findings& findings, const PageNames& names,
                           const TimeFormat& time) {
  std::vector<std::pair<double, const FoundRankSpread*>> list;
  for (const FoundRankSpread& row : findings.rank_spreads) {
    if (row.figure != blame::SpreadFigure::time || !is_work(findings, row.callpath)) continue;
    const double mean_s = row.sum / std::max(1u, findings.run.ranks);
    if (row.most - mean_s >= blame::kWorthALine * findings.run.wall_s) {
      list.emplace_back(row.most - mean_s, &row);
    }
  }
  if (list.empty()) return "";
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (list.size() > kTopRows) list.resize(kTopRows);
  std::string page =
      "\nSPREAD OVER RANKS: what the rank with most has beyond the mean  (share: of allocated "
      "time)\n";
  for (const auto& [excess_s, row] : list) {
    const double mean_s = row->sum / std::max(1u, findings.run.ranks);
    page += entry(excess_s, blame::allocation(findings),
                  names.path(row->callpath, room_behind(text_column())), time);
    page +=
        wrapped(fmt::format("mean {}, standard deviation {}; most: {} on {} {}; least: {} on {} {}",
                            time(mean_s), time(row->deviation), time(row->most), unit_of(findings),
                            row->most_rank, time(row->least), unit_of(findings), row->least_rank),
                text_column());
  }
  return page;
}

std::string kernel_section(const Findings& findings, const PageNames& names,
                           const TimeFormat& time) {
  struct Sum {
    double system_s = 0, fault_s = 0;
    uint64_t faults = 0;
  };
  std::map<CallPathId, Sum> by_path;
  double all_s = 0;
  for (const blame::FoundKernelTime& row : findings.kernel_times) {
    by_path[row.callpath].system_s += row.system_s;
    by_path[row.callpath].fault_s += row.fault_s;
    by_path[row.callpath].faults += row.page_faults;
    all_s += row.system_s;
  }
  const Amount<blame::Allocation> whole = blame::allocation(findings);
  if (all_s < kMuchOfKernel * whole.seconds()) return "";
  std::vector<std::pair<CallPathId, Sum>> list(by_path.begin(), by_path.end());
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.second.system_s > b.second.system_s;
  });
  if (list.size() > kTopRows) list.resize(kTopRows);
  std::string page = "\nTIME IN THE KERNEL  (share: of allocated time)\n";
  for (const auto& [path, sum] : list) {
    if (sum.system_s < blame::kWorthALine * whole.seconds()) break;
    page += entry(sum.system_s, whole, names.path(path, room_behind(text_column())), time);
    page += wrapped(
        fmt::format("{} of it for {}", time(sum.fault_s), counted(sum.faults, "page fault")),
        text_column());
  }
  return page;
}

}  // namespace culprit::report
