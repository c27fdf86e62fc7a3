// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The passes in order, and the texts for their results.
#include "assemble/stuck/stuck.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/stuck/deaths.h"
#include "assemble/stuck/needs.h"
#include "assemble/stuck/thread_waits.h"
#include "assemble/stuck/wait_graph.h"
#include "assemble/stuck/whereabouts.h"
#include "base/parallel.h"

namespace culprit::assemble::stuck {
namespace {

class Description {
 public:
  Description(const EndedRun& run, const std::vector<ThreadEnd>& ends,
              const std::vector<ProcessEnd>& processes, const std::vector<Node>& nodes)
      : run_(run), ends_(ends), processes_(processes), nodes_(nodes) {}

  StuckGroup of(const Group& group) const {
    StuckGroup result;
    result.deadlock = group.kind == Kind::deadlock;
    for (const size_t lane : group.circle) result.members.push_back(member(lane, true));
    for (const size_t lane : group.behind) result.members.push_back(member(lane, false));
    return result;
  }

 private:
  StuckMember member(size_t lane, bool in_circle) const {
    const OpenCall& call = ends_[lane].call;
    const size_t folder = *processes_[run_.lanes[lane].process.index()].folder;
    StuckMember result;
    result.location = static_cast<uint32_t>(run_.lanes[lane].location.index());
    result.name = name_of(run_, processes_, lane);
    result.call = name_of(call);
    std::vector<uint64_t> addresses = ends_[lane].addresses();
    if (addresses.empty() && call.code != 0) addresses.push_back(call.code);
    const Where at = where(run_.code[folder], addresses, result.call);
    result.callpath = at.callpath;
    result.place = at.place;
    result.since_s = (run_.clock.time(folder, call.since) - Time()).seconds();
    result.in_circle = in_circle;
    for (const Need& need : nodes_[lane].needs) {
      if (!result.why.empty()) result.why += ", and ";
      result.why += need.why;
      for (const size_t other : need.any_of) {
        const auto location = static_cast<uint32_t>(run_.lanes[other].location.index());
        if (std::find(result.waits_for.begin(), result.waits_for.end(), location) ==
            result.waits_for.end()) {
          result.waits_for.push_back(location);
        }
      }
    }
    return result;
  }

  const EndedRun& run_;
  const std::vector<ThreadEnd>& ends_;
  const std::vector<ProcessEnd>& processes_;
  const std::vector<Node>& nodes_;
};

}  // namespace

Found find(EndedRun run) {
  std::vector<ThreadEnd> ends(run.lanes.size());
  parallel_for(run.lanes.size(), run.threads, [&](size_t i) {
    if (run.lanes[i].log != nullptr) ends[i] = end_of(*run.lanes[i].log);
  });
  const size_t recorded = run.lanes.size();
  add_looks(run, ends);
  const std::vector<ProcessEnd> processes = processes_at_end(run, ends);
  const std::vector<Node> nodes = nodes_of(run, ends, processes);
  const Description description(run, ends, processes, nodes);
  Found found;
  for (const Group& group : find_stuck(nodes)) found.groups.push_back(description.of(group));
  for (size_t i = 0; i < recorded; ++i) {
    if (!nodes[i].waits) continue;
    found.awaited[run.lanes[i].location] = run.lanes[nodes[i].needs.front().whom].location;
  }
  found.everybody = everybody(run, ends, processes, nodes);
  found.death = first_death(run, ends, processes);
  return found;
}

}  // namespace culprit::assemble::stuck
