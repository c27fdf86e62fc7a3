// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names and places come from call paths: those of records if the thread is in a recorded call, of
// its samples if it computes, of its stack if the system says that it is blocked.
#include "assemble/stuck/whereabouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/names/cxx_library.h"

namespace culprit::assemble::stuck {

namespace {

bool is_of_library(const Symbol& symbol) {
  return std::all_of(symbol.frames.begin(), symbol.frames.end(), is_of_cxx_library);
}

}  // namespace

Where where(const ProcessCode& code, const std::vector<uint64_t>& addresses,
            const std::string& call) {
  std::vector<std::string> names;
  Where result;
  for (const uint64_t address : addresses) {
    const Code& here = code.before(address);
    if (here.symbol == nullptr || here.frames.empty() || is_of_library(*here.symbol)) continue;
    for (size_t i = here.frames.size(); i-- > 0;) {
      const CodeFrame& frame = here.frames[i];
      if (frame.kind != CodeKind::user && frame.kind != CodeKind::outlined) continue;
      if (result.place.empty() && here.symbol->line != 0) {
        result.place = fmt::format("{}:{}", here.symbol->file, here.symbol->line);
      }
      if (frame.start || i >= here.symbol->frames.size()) continue;
      if (is_of_cxx_library(here.symbol->frames[i])) continue;
      if (frame.kind == CodeKind::user) names.push_back(here.symbol->frames[i].function);
    }
  }
  // Frames outside of main do not concern the user.
  const auto main = std::find(names.rbegin(), names.rend(), "main");
  if (main != names.rend()) names.erase(main.base(), names.end());
  if (!names.empty()) result.function = names.front();
  std::reverse(names.begin(), names.end());
  if (!call.empty()) names.push_back(call);
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

std::string name_of(const EndedRun& run, const std::vector<ProcessEnd>& processes, size_t lane) {
  const ThreadAtEnd& it = run.lanes[lane];
  const bool ranked = run.processes.slots[it.process.index()].world.has_value();
  const bool alone = processes[it.process.index()].lanes.size() == 1;
  std::string text = fmt::format("{} {}", ranked ? "rank" : "process", it.process.index());
  if (it.log == nullptr && it.tid != 0) return text + fmt::format(", its thread {}", it.tid);
  if (!alone && it.thread != 0) text += fmt::format(", thread {}", it.thread);
  return text;
}

namespace {

/// "(solve.c:12, in relax)"; empty if neither is known.
std::string in_parentheses(const Where& at) {
  if (at.place.empty() && at.function.empty()) return "";
  if (at.function.empty()) return fmt::format(" ({})", at.place);
  if (at.place.empty()) return fmt::format(" (in {})", at.function);
  return fmt::format(" ({}, in {})", at.place, at.function);
}

/// Return addresses of a call, or where it was called from, which may be all that is known.
std::vector<uint64_t> addresses_of_call(const ThreadEnd& end) {
  std::vector<uint64_t> addresses = end.addresses();
  if (addresses.empty() && end.call.code != 0) addresses.push_back(end.call.code);
  return addresses;
}

class Listing {
 public:
  Listing(const EndedRun& run, const std::vector<ThreadEnd>& ends,
          const std::vector<ProcessEnd>& processes, const std::vector<Node>& nodes)
      : run_(run), ends_(ends), processes_(processes), nodes_(nodes) {}

  Whereabouts of(size_t lane) const {
    const ThreadEnd& end = ends_[lane];
    const size_t folder = *processes_[run_.lanes[lane].process.index()].folder;
    Whereabouts result;
    result.name = name_of(run_, processes_, lane);
    result.core = end.core;
    uint64_t since = end.trail.progress();
    if (end.call.kind != CallKind::none) {
      since = end.call.since;
      result.what = in_call(lane, folder);
    } else if (end.trail.spins) {
      since = end.trail.spins.since;
      result.what = "spins" + place(folder, end, end.trail.spins.path);
    } else if (end.trail.sleeps) {
      since = end.trail.sleeps.since;
      result.what = "sleeps again and again" + place(folder, end, end.trail.sleeps.path);
    } else if (!end.trail.samples.empty()) {
      result.computes = end.runs || is_recent(folder, end.trail.samples.back().ticks);
      result.what = (result.computes ? "computes" : "was last seen") +
                    place(folder, end, end.trail.samples.back().path);
    } else {
      result.computes = end.runs;
      result.what = end.runs ? "runs" : "left no word of what it does";
    }
    result.since_s = since == 0 ? 0 : (run_.clock.time(folder, since) - Time()).seconds();
    for (const Need& need : nodes_[lane].needs) {
      if (!result.why.empty()) result.why += ", and ";
      result.why += need.why;
    }
    return result;
  }

 private:
  /// Samples come after each hundredth of a second on a core, and so later on a busy machine.
  bool is_recent(size_t folder, uint64_t ticks) const {
    constexpr Duration kApart = Duration::from_nanos(1'000'000'000);
    return !run_.end || *run_.end - run_.clock.time(folder, ticks) < kApart;
  }

  std::string place(size_t folder, const ThreadEnd& end, uint32_t path) const {
    return in_parentheses(where(run_.code[folder], end.addresses(path), ""));
  }

  std::string in_call(size_t lane, size_t folder) const {
    const ThreadEnd& end = ends_[lane];
    const OpenCall& call = end.call;
    const std::string at = in_parentheses(where(run_.code[folder], addresses_of_call(end), ""));
    if (call.kind == CallKind::tests) {
      return fmt::format("calls {}{} again and again, {} times in vain", name_of(call), at,
                         end.trail.tests.count);
    }
    std::string text =
        fmt::format("is in {}{}{}", name_of(call), at, call.again ? " again and again" : "");
    if (call.in_system && call.kind == CallKind::system) text += object(lane, *call.in_system);
    return text;
  }

  std::string object(size_t lane, const SystemWait& wait) const {
    std::string text;
    if (!wait.object.empty()) {
      text = wait.sort == look::CallSort::child ? fmt::format(" for {}", wait.object)
                                                : fmt::format(" of {}", wait.object);
    }
    if (wait.state == 'D') text += ", where it waits for a device or a file system";
    // Of locks and pipes the needs say more.
    if (nodes_[lane].needs.empty() && wait.sort == look::CallSort::locks && !wait.holders.empty()) {
      text += fmt::format(", which process {} of the system holds", wait.holders.front());
    }
    return text;
  }

  const EndedRun& run_;
  const std::vector<ThreadEnd>& ends_;
  const std::vector<ProcessEnd>& processes_;
  const std::vector<Node>& nodes_;
};

}  // namespace

std::string last_place(const EndedRun& run, const ThreadEnd& end,
                       const std::vector<ProcessEnd>& processes, size_t lane) {
  const size_t folder = *processes[run.lanes[lane].process.index()].folder;
  if (end.call.kind != CallKind::none) {
    return name_of(end.call) + in_parentheses(where(run.code[folder], addresses_of_call(end), ""));
  }
  if (end.trail.last_path == 0) return "";
  const Where at = where(run.code[folder], end.addresses(end.trail.last_path), "");
  return at.function.empty() || at.place.empty() ? at.function
                                                 : fmt::format("{} ({})", at.function, at.place);
}

std::vector<Whereabouts> everybody(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                                   const std::vector<ProcessEnd>& processes,
                                   const std::vector<Node>& nodes) {
  const Listing listing(run, ends, processes, nodes);
  std::vector<Whereabouts> all;
  for (size_t i = 0; i < run.lanes.size(); ++i) {
    const ProcessEnd& process = processes[run.lanes[i].process.index()];
    if (nodes[i].parked || ends[i].ended || process.gone) continue;
    if (process.folder) {
      all.push_back(listing.of(i));
    } else {
      Whereabouts& nowhere = all.emplace_back();
      nowhere.name = name_of(run, processes, i);
      nowhere.what = "left no records";
    }
  }
  return all;
}

}  // namespace culprit::assemble::stuck
