// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One function for each sort of wait. Threads are found by the system's numbers; a number that no
// thread has any more belonged to a thread that has ended.
#include "assemble/stuck/needs_of_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace culprit::assemble::stuck {

uint32_t system_number(const EndedRun& run, const std::vector<ThreadEnd>& ends, size_t lane) {
  const ThreadAtEnd& it = run.lanes[lane];
  if (it.log == nullptr) return it.tid;
  const auto folder = run.processes.slots[it.process.index()].folder;
  if (it.log->thread() == 0 && folder) return run.folders[*folder].process.pid;
  return ends[lane].trail.tid;
}

uint32_t NeedsOfSystem::tid(size_t lane) const {
  return system_number(run_, ends_, lane);
}

std::string NeedsOfSystem::thread(size_t lane) const {
  const ThreadAtEnd& it = run_.lanes[lane];
  if (it.log == nullptr && it.tid != 0) return fmt::format("its thread {}", it.tid);
  return it.thread == 0 ? "its first thread" : fmt::format("thread {}", it.thread);
}

/// Threads of the process that may still act of their own accord.
std::vector<size_t> NeedsOfSystem::others(size_t lane) const {
  std::vector<size_t> able;
  for (const size_t other : processes_[run_.lanes[lane].process.index()].lanes) {
    if (other != lane && !parked_[other] && !ends_[other].ended) able.push_back(other);
  }
  return able;
}

std::vector<Need> NeedsOfSystem::of(size_t lane) const {
  const OpenCall& call = ends_[lane].call;
  if (call.kind == CallKind::thread && call.thread_wait) return for_thread(lane, *call.thread_wait);
  if (call.kind == CallKind::system && call.in_system) return for_holders(lane, *call.in_system);
  return {};
}

std::vector<Need> NeedsOfSystem::for_owner(size_t lane, uint32_t owner,
                                           const std::string& object) const {
  if (owner == 0) return {};
  if (owner == tid(lane))
    return {{{lane}, lane, fmt::format("for {} that it holds itself", object)}};
  for (const size_t other : processes_[run_.lanes[lane].process.index()].lanes) {
    if (tid(other) != owner) continue;
    if (!ends_[other].ended)
      return {{{other}, other, fmt::format("for {} that {} holds", object, thread(other))}};
    return {{{}, other, fmt::format("for {} that {} held when it ended", object, thread(other))}};
  }
  if (is_alive(lane, owner)) return {};  // a library's own thread
  return {{{}, lane, fmt::format("for {} that a thread held when it ended", object)}};
}

/// The last at the lane's process; null if there was none.
const look::ProcessLook* NeedsOfSystem::look_at(size_t lane) const {
  const auto folder = run_.processes.slots[run_.lanes[lane].process.index()].folder;
  const bool known = folder && *folder < run_.looks.size() && run_.looks[*folder];
  return known ? &*run_.looks[*folder] : nullptr;
}

/// Whether the system knows a thread of the process by this number.
bool NeedsOfSystem::is_alive(size_t lane, uint32_t tid) const {
  const look::ProcessLook* look = look_at(lane);
  if (look == nullptr) return true;
  const std::vector<look::ThreadLook>& threads = look->threads;
  return std::any_of(threads.begin(), threads.end(),
                     [tid](const look::ThreadLook& one) { return one.tid == tid; });
}

/// Only the system knows of all threads.
std::vector<Need> NeedsOfSystem::for_anybody(size_t lane, const std::string& what) const {
  if (look_at(lane) == nullptr) return {};
  Need need{others(lane), lane, what};
  if (need.any_of.empty()) {
    need.why += ", but it is the only thread left";
  } else {
    need.whom = need.any_of.front();
  }
  return {need};
}

std::vector<Need> NeedsOfSystem::for_thread(size_t lane, const ThreadWait& wait) const {
  if (wait.timed || wait.shared) return {};
  switch (wait.kind) {
    case ThreadWait::Kind::mutex:
      return for_owner(lane, wait.owner, "a mutex");
    case ThreadWait::Kind::rwlock:
      if (wait.owner != 0) return for_owner(lane, wait.owner, "a read-write lock");
      return for_anybody(lane, "for a read-write lock that is held for reading");
    case ThreadWait::Kind::join:
      for (const size_t other : processes_[run_.lanes[lane].process.index()].lanes) {
        if (tid(other) != wait.owner || ends_[other].ended) continue;
        return {{{other}, other, fmt::format("for {} to end", thread(other))}};
      }
      return {};
    case ThreadWait::Kind::condition:
      return for_anybody(lane, "for another thread to signal a condition variable");
    case ThreadWait::Kind::semaphore:
      if (wait.signals) return {};
      return for_anybody(lane, "for another thread to post a semaphore");
    case ThreadWait::Kind::barrier:
      return for_anybody(lane, "for other threads to reach a barrier");
    case ThreadWait::Kind::word:
      if (wait.signals) return {};
      return for_anybody(lane, "for another thread to wake it");
  }
  return {};
}

std::optional<size_t> NeedsOfSystem::process_of(size_t lane, uint32_t pid) const {
  const auto own = run_.processes.slots[run_.lanes[lane].process.index()].folder;
  if (!own) return std::nullopt;
  for (size_t p = 0; p < processes_.size(); ++p) {
    if (!processes_[p].folder) continue;
    const trace::RawProcess& process = run_.folders[*processes_[p].folder].process;
    if (process.pid == pid && std::strcmp(process.host, run_.folders[*own].process.host) == 0)
      return p;
  }
  return std::nullopt;
}

/// The holders of locks of files, and of the other sides of pipes. A child may end at any time.
std::vector<Need> NeedsOfSystem::for_holders(size_t lane, const SystemWait& wait) const {
  const bool is_pipe = wait.sort == look::CallSort::reads || wait.sort == look::CallSort::writes;
  if (!is_pipe && wait.sort != look::CallSort::locks) return {};
  if (wait.holders.empty()) return {};
  Need need{{}, lane, ""};
  std::vector<std::string> names;
  const size_t own = run_.lanes[lane].process.index();
  for (const uint32_t pid : wait.holders) {
    const auto process = process_of(lane, pid);
    if (!process) return {};  // its activity is unknown
    const std::vector<size_t> able = *process == own ? others(lane) : processes_[*process].lanes;
    for (const size_t other : able) {
      if (!parked_[other] && !ends_[other].ended) need.any_of.push_back(other);
    }
    const bool ranked = run_.processes.slots[*process].world.has_value();
    names.push_back(*process == own ? "it"
                                    : fmt::format("{} {}", ranked ? "rank" : "process", *process));
  }
  const std::string who = fmt::format("{}", fmt::join(names, " or "));
  if (wait.sort == look::CallSort::locks) {
    need.why =
        fmt::format("for a lock of {} that {} holds", wait.object, who == "it" ? "it itself" : who);
  } else {
    need.why = fmt::format("for {}, whose other end only {} has", wait.object,
                           who == "it" ? "it itself" : who);
  }
  if (!need.any_of.empty()) need.whom = need.any_of.front();
  if (need.any_of.empty() && who == "it") need.any_of.push_back(lane);
  return {need};
}

}  // namespace culprit::assemble::stuck
