// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A group is shown with the operation in which its members wait most for each other first.
#include "report/text_page/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "blame/judge/diagnose.h"

namespace culprit::report {

namespace {

using blame::Findings;
using blame::FoundArrival;

constexpr size_t kTopOperations = 5;
constexpr size_t kTopMembers = 8;

/// One kind of operation of one group.
struct Operation {
  std::vector<const FoundArrival*> members;
  double skew_s = 0, transfer_s = 0;
  uint64_t count = 0;
};

std::vector<Operation> operations_of(const Findings& findings) {
  std::map<std::pair<uint32_t, std::string>, Operation> all;
  for (const FoundArrival& row : findings.arrivals) {
    Operation& operation = all[{row.group_id, row.operation}];
    operation.members.push_back(&row);
    operation.skew_s += row.skew_s;
    operation.transfer_s += row.transfer_s;
    operation.count = std::max(operation.count, row.count);
  }
  std::vector<Operation> sorted;
  for (auto& [key, operation] : all) sorted.push_back(std::move(operation));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Operation& a, const Operation& b) { return a.skew_s > b.skew_s; });
  for (Operation& operation : sorted) {
    std::stable_sort(operation.members.begin(), operation.members.end(),
                     [](const FoundArrival* a, const FoundArrival* b) {
                       return std::pair(a->last, a->late_s) > std::pair(b->last, b->late_s);
                     });
  }
  return sorted;
}

std::string heading_of(const Operation& operation, const TimeFormat& time) {
  const FoundArrival& first = *operation.members.front();
  const std::string of =
      first.communicator.empty() ? std::string() : fmt::format(" of {}", first.communicator);
  return fmt::format("{}{}: {} by {}; skew {}, transfer {}", first.operation, of,
                     counted(operation.count, "operation"),
                     counted(operation.members.size(), "member"), time(operation.skew_s),
                     time(operation.transfer_s));
}

std::string member_line(const FoundArrival& row, const PageNames& names, const TimeFormat& time) {
  const double each_s = row.last > 0 ? row.late_s / static_cast<double>(row.last) : 0;
  return beside(
      fmt::format("   {} {}", right(row.last > 0 ? time(each_s) : "", 11),
                  right(grouped(row.last), 8)),
      fmt::format("{}; waited {} itself", names.location(row.location), time(row.skew_s)));
}

}  // namespace

std::string arrival_section(const Findings& findings, const PageNames& names,
                            const TimeFormat& time) {
  const double worth_s = blame::kWorthALine * blame::allocation(findings).seconds();
  std::string page;
  size_t shown = 0;
  for (const Operation& operation : operations_of(findings)) {
    if (operation.skew_s < worth_s || shown == kTopOperations) break;
    ++shown;
    page += wrapped(heading_of(operation, time), 2);
    const size_t members = std::min(operation.members.size(), kTopMembers);
    for (size_t i = 0; i < members; ++i) {
      page += member_line(*operation.members[i], names, time);
    }
    if (const size_t others = operation.members.size() - members; others > 0) {
      page += wrapped(fmt::format("and {}", counted(others, "other member")), 5);
    }
  }
  if (page.empty()) return "";
  return "\nWHO COMES LAST to collective operations  (on average, how late; how often)\n" + page;
}

}  // namespace culprit::report
