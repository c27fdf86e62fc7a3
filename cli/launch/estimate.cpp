// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A table of the parts of the trace, the largest first, and below it the options that would leave
// out most of it.
#include "cli/launch/estimate.h"

#include <fmt/format.h>

#include <set>

#include "base/printable.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

using assemble::Estimate;
using assemble::EstimateRow;

constexpr size_t kRows = 12;
/// An option is suggested if it leaves out at least this share of the records.
constexpr double kWorthNaming = 0.1;

std::string mib(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / (1 << 20));
}

std::string cost_of(double cost_s, const Estimate& estimate) {
  return report::percent(
      blame::Proportion::of(blame::Amount<blame::Allocation>(cost_s),
                            blame::Amount<blame::Allocation>(estimate.thread_s)));
}

std::string table(const Estimate& estimate) {
  std::string text = fmt::format("  {:<38} {:>12} {:>9} {:>8} {:>8}  --without\n", "", "records",
                                 "MiB", "share", "cost");
  size_t shown = 0;
  for (const EstimateRow& row : estimate.rows) {
    if (shown++ == kRows) break;
    // The name of a probe comes from the records.
    const std::string what = report::shortened(printable(row.what), 38);
    text += fmt::format(
        "  {} {:>12} {:>9.1f} {:>8} {:>8}  {}\n", report::left(what, 38),
        report::grouped(static_cast<size_t>(row.records)), row.bytes / (1 << 20),
        report::percent(blame::Proportion::of(blame::Amount<blame::Row>(row.bytes),
                                              blame::Amount<blame::Row>(estimate.bytes))),
        cost_of(row.cost_s, estimate), row.left_out);
  }
  if (estimate.rows.size() > kRows) {
    text += fmt::format("  and {} other kinds\n", estimate.rows.size() - kRows);
  }
  return text;
}

std::string proposal(const Estimate& estimate) {
  std::set<std::string> words;
  double bytes = 0, cost_s = 0;
  for (const EstimateRow& row : estimate.rows) {
    cost_s += row.cost_s;
    if (row.left_out.empty() || row.bytes < kWorthNaming * estimate.bytes) continue;
    words.insert(row.left_out);
    bytes += row.bytes;
    cost_s -= row.cost_s;
  }
  if (words.empty()) return "No kind of event stands out that could be left out.";
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  return fmt::format("With --without {}, the trace takes {} and the overhead is {}.", list,
                     mib(estimate.bytes - bytes), cost_of(cost_s, estimate));
}

}  // namespace

std::string estimate_page(const Estimate& estimate) {
  double cost_s = 0;
  for (const EstimateRow& row : estimate.rows) cost_s += row.cost_s;
  const double rate = estimate.wall_s > 0 ? estimate.records / estimate.wall_s : 0;
  std::string page = report::wrapped(
      fmt::format(
          "A run like this one records {} from {}, {} of it in the largest of {}: {} records per "
          "second. Estimated overhead: {} of its time.{}",
          mib(estimate.bytes), report::counted(estimate.threads, "thread"),
          mib(estimate.largest_process_bytes),
          report::counted(estimate.processes, "process", "processes"),
          report::grouped(static_cast<size_t>(rate)), cost_of(cost_s, estimate),
          estimate.all_kept ? ""
                            : " Only each thread's first records were kept; they are "
                              "assumed to be representative."),
      0);
  return page + "\n" + table(estimate) + "\n" + report::wrapped(proposal(estimate), 0);
}

}  // namespace culprit::cli
