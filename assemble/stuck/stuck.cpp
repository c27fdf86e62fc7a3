// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The passes in order, and the words for what they have found.
#include "assemble/stuck/stuck.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/stuck/needs.h"
#include "assemble/stuck/wait_graph.h"
#include "base/parallel.h"

namespace culprit::assemble::stuck {
namespace {

/// Functions of the user from the program's down to the call, as the report's call paths are named.
struct Where {
  std::string callpath;
  std::string place;  ///< "file.c:12" of the call; empty if unknown
};

Where where(const ProcessCode& code, const ThreadEnd& end, const std::string& call) {
  std::vector<std::string> names;
  Where result;
  std::vector<uint64_t> addresses = end.addresses();
  if (addresses.empty() && end.call.code != 0) addresses.push_back(end.call.code);
  for (const uint64_t address : addresses) {
    const Code& here = code.before(address);
    if (here.symbol == nullptr || here.frames.empty()) continue;
    for (size_t i = here.frames.size(); i-- > 0;) {
      const CodeFrame& frame = here.frames[i];
      if (frame.kind != CodeKind::user && frame.kind != CodeKind::outlined) continue;
      if (result.place.empty() && here.symbol->line != 0) {
        result.place = fmt::format("{}:{}", here.symbol->file, here.symbol->line);
      }
      if (frame.start || i >= here.symbol->frames.size()) continue;
      if (frame.kind == CodeKind::user) names.push_back(here.symbol->frames[i].function);
    }
  }
  // What lies outside of main is none of the user's business.
  const auto main = std::find(names.rbegin(), names.rend(), "main");
  if (main != names.rend()) names.erase(main.base(), names.end());
  std::reverse(names.begin(), names.end());
  names.push_back(call);
  result.callpath = fmt::format("{}", fmt::join(names, "/"));
  return result;
}

std::string name_of(const OpenCall& call) {
  switch (call.kind) {
    case CallKind::barrier:
      return "an OpenMP barrier";
    case CallKind::tasks:
      return "an OpenMP taskwait";
    case CallKind::mutex:
      return "an OpenMP lock or critical section";
    default:
      return call.name;
  }
}

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
  std::string name(size_t lane) const {
    const ThreadAtEnd& it = run_.lanes[lane];
    const bool ranked = run_.processes.slots[it.process.index()].world.has_value();
    const bool alone = processes_[it.process.index()].lanes.size() == 1;
    std::string text = fmt::format("{} {}", ranked ? "rank" : "process", it.process.index());
    if (!alone && it.thread != 0) text += fmt::format(", thread {}", it.thread);
    return text;
  }

  StuckMember member(size_t lane, bool in_circle) const {
    const OpenCall& call = ends_[lane].call;
    const size_t folder = *processes_[run_.lanes[lane].process.index()].folder;
    StuckMember result;
    result.location = static_cast<uint32_t>(run_.lanes[lane].location.index());
    result.name = name(lane);
    result.call = name_of(call);
    const Where at = where(run_.code[folder], ends_[lane], result.call);
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

Found find(const EndedRun& run) {
  std::vector<ThreadEnd> ends(run.lanes.size());
  parallel_for(run.lanes.size(), run.threads, [&](size_t i) {
    if (run.lanes[i].log != nullptr) ends[i] = end_of(*run.lanes[i].log);
  });
  const std::vector<ProcessEnd> processes = processes_at_end(run, ends);
  const std::vector<Node> nodes = nodes_of(run, ends, processes);
  const Description description(run, ends, processes, nodes);
  Found found;
  for (const Group& group : find_stuck(nodes)) found.groups.push_back(description.of(group));
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].waits) continue;
    found.awaited[run.lanes[i].location] = run.lanes[nodes[i].needs.front().whom].location;
  }
  return found;
}

}  // namespace culprit::assemble::stuck
