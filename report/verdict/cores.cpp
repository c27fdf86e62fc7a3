// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Time in which threads could run and had no core, against the time in which they did.
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

}  // namespace

CoreShortage core_shortage(const blame::Findings& findings) {
  CoreShortage shortage;
  std::map<std::string, Node> nodes;
  std::map<uint32_t, std::string> node_of;  // by rank
  for (const blame::FoundProcess& process : findings.processes) {
    Node& node = nodes[process.node];
    ++node.processes;
    node.cores = std::max<size_t>(node.cores, process.node_cores);
    node_of[process.rank] = process.node;
    if (process.core_wait_s < 0) continue;
    shortage.known = true;
    shortage.core_wait_s += process.core_wait_s;
    node.core_wait_s += process.core_wait_s;
  }
  if (!shortage.known) return shortage;
  double held_s = 0;
  for (const blame::FoundLocation& location : findings.locations) {
    if (!location.stream.empty() || location.life_s <= 0) continue;
    held_s += location.life_s;
    if (const auto node = node_of.find(location.rank); node != node_of.end()) {
      ++nodes[node->second].threads;
    }
  }
  if (held_s > 0) shortage.share = std::min(shortage.core_wait_s / held_s, 1.0);
  const auto worst = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return a.second.core_wait_s < b.second.core_wait_s;
  });
  shortage.node = worst->first;
  shortage.processes = worst->second.processes;
  shortage.threads = worst->second.threads;
  shortage.cores = worst->second.cores;
  return shortage;
}

std::string core_sentence(const CoreShortage& shortage, const blame::Findings& findings) {
  if (!shortage.matters()) return "";
  const std::string share = percent(shortage.share, 1);
  const std::string processes =
      counted(shortage.processes, findings.run.mpi.empty() ? "process" : "rank",
              findings.run.mpi.empty() ? "processes" : "");
  const std::string threads = counted(shortage.threads, "thread");
  const std::string who = shortage.threads == shortage.processes ? processes
                          : shortage.processes == 1              ? threads
                                                    : fmt::format("{} with {}", processes, threads);
  const bool several_nodes =
      std::any_of(findings.processes.begin(), findings.processes.end(),
                  [&](const blame::FoundProcess& p) { return p.node != shortage.node; });
  const std::string where = several_nodes ? fmt::format(" on {}", shortage.node) : "";
  const std::string consequence =
      "which delays everything below: measure again with a core for each thread.";
  if (shortage.too_many_threads()) {
    return fmt::format(
        "{} shared {}{}: for {} of the allocated time, threads were ready to run and had no core, "
        "{}",
        who, counted(shortage.cores, "core"), where, share, consequence);
  }
  return fmt::format(
      "For {} of the allocated time, threads were ready to run and had no core, although {}{} "
      "could "
      "use {} (other programs, a CPU quota, or threads bound to one core), {}",
      share, who, where, counted(shortage.cores, "core"), consequence);
}

}  // namespace culprit::report
