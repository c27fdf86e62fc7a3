// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads are grouped by their outermost function, which is what a library made them for.
#include "report/verdict/apart/spare_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "trace/pseudo_regions.h"

namespace culprit::report {
namespace {

constexpr double kMatters = 0.01;  ///< of the run's length, for all threads together
constexpr double kMuch = 0.2;      ///< of the allocated time: worth a line on the first screen
constexpr size_t kNamed = 3;       ///< in the sentence
constexpr size_t kRows = 8;        ///< in the section

/// Threads that run the same function.
struct Group {
  CallPathId root;
  size_t threads = 0;
  size_t never_awake = 0;
  double asleep_s = 0, awake_s = 0;
};

CallPathId root_of(const blame::Findings& findings, CallPathId path) {
  while (path.valid() && findings.callpaths[path.index()].parent.valid()) {
    path = findings.callpaths[path.index()].parent;
  }
  return path;
}

/// Most sleep first.
std::vector<Group> groups_of(const blame::Findings& findings) {
  std::map<CallPathId, Group> sums;
  for (const blame::FoundSpareThread& row : findings.spare_threads) {
    const CallPathId root = root_of(findings, row.callpath);
    Group& group = sums[root];
    group.root = root;
    ++group.threads;
    if (!row.ever_awake) ++group.never_awake;
    group.asleep_s += row.time_s;
    group.awake_s += row.awake_s;
  }
  std::vector<Group> groups;
  for (const auto& [root, group] : sums) groups.push_back(group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.asleep_s > b.asleep_s; });
  return groups;
}

/// "libopenblas" for what is in a library that is not the program's own, else the function.
std::string whose(const blame::Findings& findings, const PageNames& names, const Group& group) {
  if (!group.root.valid()) return "unknown code";
  const std::string_view region = findings.callpaths[group.root.index()].region;
  if (trace::pseudo_of(region) == trace::Pseudo::in_library) {
    return std::string(trace::rest_of_family(region));
  }
  return names.code(group.root);
}

double asleep_s(const std::vector<Group>& groups) {
  double sum_s = 0;
  for (const Group& group : groups) sum_s += group.asleep_s;
  return sum_s;
}

bool matters(const blame::Findings& findings, const std::vector<Group>& groups) {
  return !groups.empty() && asleep_s(groups) >= kMatters * findings.run.wall_s;
}

}  // namespace

std::string spare_threads_sentence(const blame::Findings& findings, const PageNames& names,
                                   const TimeFormat& time) {
  const std::vector<Group> groups = groups_of(findings);
  if (!matters(findings, groups)) return "";
  std::vector<std::string> words;
  size_t others = 0;
  for (const Group& group : groups) {
    if (words.size() < kNamed) {
      words.push_back(fmt::format("{} in {}", group.threads, whose(findings, names, group)));
    } else {
      others += group.threads;
    }
  }
  if (others > 0) words.push_back(fmt::format("{} more", others));
  return fmt::format(
      "Spare threads: {} slept {}, and nobody needed them meanwhile. Not included in the "
      "allocated time, the verdict, the delays and the efficiencies.",
      listed(words), time(asleep_s(groups)));
}

std::string spare_threads_in_short(const blame::Findings& findings, const PageNames& names,
                                   const TimeFormat& time) {
  if (asleep_s(groups_of(findings)) < kMuch * findings.run.allocation_s) return "";
  const std::string sentence = spare_threads_sentence(findings, names, time);
  return sentence.substr(0, sentence.find(". ") + 1);
}

std::string spare_threads_section(const blame::Findings& findings, const PageNames& names,
                                  const TimeFormat& time) {
  const std::vector<Group> groups = groups_of(findings);
  if (!matters(findings, groups)) return "";
  std::string page = "\nSPARE THREADS\n";
  for (const Group& group : groups) {
    if (static_cast<size_t>(&group - groups.data()) == kRows) break;
    std::string line = fmt::format("{} in {}: asleep for {}", counted(group.threads, "thread"),
                                   whose(findings, names, group), time(group.asleep_s));
    if (group.never_awake == group.threads) {
      line += ", from beginning to end";
    } else {
      line += fmt::format(", awake for {}", time(group.awake_s));
    }
    page += wrapped(line, 2);
  }
  if (groups.size() > kRows) {
    page += wrapped(fmt::format("and {}", counted(groups.size() - kRows, "other function")), 2);
  }
  return page +
         wrapped(
             "This is sleep in which nobody waited for these threads, and beyond the number of "
             "them that ever worked together for 10 % of the time. It is no part of the allocated "
             "time, and of no other figure.",
             2);
}

}  // namespace culprit::report
