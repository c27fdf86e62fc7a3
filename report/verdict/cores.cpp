// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Time in which threads could run and had no core, against the time in which they did. All threads
// of a process are in both, its libraries' own as well, which no location stands for.
#include "report/verdict/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/page/layout.h"

namespace culprit::report {

namespace {

struct Node {
  size_t processes = 0, threads = 0, cores = 0;
  double core_wait_s = 0;
};

/// Of each rank's threads: what they waited, and were busy in start-up and shutdown, of which
/// nothing else that is said tells. Who had no core then is not known to have lacked it at work.
std::map<uint32_t, double> waits_and_start_up(const blame::Findings& findings) {
  std::map<uint32_t, double> sums;
  for (const blame::FoundLocation& location : findings.locations) {
    if (location.stream.empty()) sums[location.rank] += location.waiting_s;
  }
  const auto add = [&](const auto& row, double time_s) {
    const blame::FoundLocation& location = findings.locations[row.location.index()];
    const bool start_up = row.callpath.valid() && findings.callpaths[row.callpath.index()].start_up;
    if (start_up && location.stream.empty()) sums[location.rank] += time_s;
  };
  for (const blame::FoundProfile& row : findings.profile) add(row, row.time_s);
  for (const blame::FoundWait& row : findings.waits) add(row, -row.time_s);  // these are in already
  return sums;
}

/// "4 ranks", "8 threads", "4 ranks with 8 threads".
std::string who_of(const CoreShortage& shortage, const blame::Findings& findings) {
  const std::string processes =
      counted(shortage.processes, findings.run.mpi.empty() ? "process" : "rank",
              findings.run.mpi.empty() ? "processes" : "");
  const std::string threads = counted(shortage.threads, "thread");
  return shortage.threads == shortage.processes ? processes
         : shortage.processes == 1              ? threads
                                                : fmt::format("{} with {}", processes, threads);
}

}  // namespace

CoreShortage core_shortage(const blame::Findings& findings) {
  CoreShortage shortage;
  std::map<std::string, Node> nodes;
  std::map<uint32_t, std::string> node_of;  // by rank
  const std::map<uint32_t, double> idle_s = waits_and_start_up(findings);
  double on_core_s = 0;
  for (const blame::FoundProcess& process : findings.processes) {
    Node& node = nodes[process.node];
    ++node.processes;
    node.cores = std::max<size_t>(node.cores, process.node_cores);
    node_of[process.rank] = process.node;
    if (process.core_wait_s < 0) continue;
    shortage.known = true;
    on_core_s += process.on_core_s;
    shortage.core_wait_s += process.core_wait_s;
    const auto idle = idle_s.find(process.rank);
    const double harmless_s = idle == idle_s.end() ? 0 : idle->second;
    shortage.working_s += std::max(process.core_wait_s - harmless_s, 0.0);
    node.core_wait_s += process.core_wait_s;
  }
  if (!shortage.known) return shortage;
  for (const blame::FoundLocation& location : findings.locations) {
    if (!location.stream.empty() || location.life_s <= 0) continue;
    shortage.allocated_s += location.life_s;
    if (const auto node = node_of.find(location.rank); node != node_of.end()) {
      ++nodes[node->second].threads;
    }
  }
  const double runnable_s = on_core_s + shortage.core_wait_s;
  if (runnable_s > 0) shortage.share = shortage.core_wait_s / runnable_s;
  const auto worst = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return a.second.core_wait_s < b.second.core_wait_s;
  });
  shortage.node = worst->first;
  shortage.processes = worst->second.processes;
  shortage.threads = worst->second.threads;
  shortage.cores = worst->second.cores;
  return shortage;
}

std::string core_words(const CoreShortage& shortage, const blame::Findings& findings) {
  return fmt::format("{} on {} had no core for {} of the time", who_of(shortage, findings),
                     counted(shortage.cores, "core"),
                     rounded(blame::Proportion::by_itself(shortage.share)));
}

std::string core_sentence(const CoreShortage& shortage, const blame::Findings& findings) {
  if (!shortage.matters()) return "";
  const std::string share = percent(blame::Proportion::by_itself(shortage.share));
  const std::string who = who_of(shortage, findings);
  const bool several_nodes =
      std::any_of(findings.processes.begin(), findings.processes.end(),
                  [&](const blame::FoundProcess& p) { return p.node != shortage.node; });
  const std::string where = several_nodes ? fmt::format(" on {}", shortage.node) : "";
  const std::string consequence =
      shortage.comes_first()
          ? "which delays everything below: measure again with a core for each thread."
          : "but hardly longer than they waited: calls that spin while they wait compete with each "
            "other for cores, and may have delayed nobody. To be sure, measure again with a core "
            "for each thread.";
  if (shortage.too_many_threads()) {
    return fmt::format(
        "{} shared {}{}: for {} of the time in which threads could run, they had no core, {}", who,
        counted(shortage.cores, "core"), where, share, consequence);
  }
  return fmt::format(
      "For {} of the time in which threads could run, they had no core, although {}{} could use {} "
      "(other programs, a CPU quota, or threads bound to one core), {}",
      share, who, where, counted(shortage.cores, "core"), consequence);
}

}  // namespace culprit::report
