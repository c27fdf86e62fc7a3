// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The innermost frames of a blocked thread are the system's; the outermost of them that has a known
// name is the call that the program made. Layouts are those of glibc on 64-bit Linux.
#include "assemble/stuck/thread_waits.h"

#include <fmt/format.h>
#include <linux/futex.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "assemble/look/system_calls.h"
#include "assemble/stuck/waiting_calls.h"

namespace culprit::assemble::stuck {
namespace {

using look::CallSort;
using look::ProcessLook;
using look::ThreadLook;

/// Libraries that begin threads of their own, beside those of CodeKind::system.
constexpr std::string_view kHelpers[] = {"libevent", "libprrte", "libibverbs", "librdmacm",
                                         "libmlx",   "libze_",   "libhsa",     "libroc"};
/// Through these threads begin whoever makes them.
constexpr std::string_view kTransparent[] = {"libc.",  "libc-", "libpthread", "libstdc++",
                                             "libc++", "ld-",   "libculprit."};

template <size_t size>
bool begins_with_one_of(std::string_view name, const std::string_view (&prefixes)[size]) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

/// What the frames of a stack are.
struct StackFacts {
  const trace::ThreadCall* call = nullptr;  ///< the outermost that the program calls
  bool program = false;                     ///< some of it is the program's
  bool helper = false;  ///< a library that has threads of its own has begun the thread
};

StackFacts facts_of(const ProcessCode& code, const std::vector<uint64_t>& stack) {
  StackFacts facts;
  for (const uint64_t address : stack) {
    const Code& here = code.before(address);
    if (here.symbol == nullptr) continue;
    const std::string_view module = here.symbol->module;
    const bool is_helper = begins_with_one_of(module, kHelpers);
    for (size_t i = here.symbol->frames.size(); i-- > 0;) {
      CodeKind kind = i < here.frames.size() ? here.frames[i].kind : CodeKind::user;
      if (is_helper) kind = CodeKind::system;
      if (kind == CodeKind::user || kind == CodeKind::outlined) {
        facts.program = facts.program || (i < here.frames.size() && !here.frames[i].start);
      } else if (!facts.program) {
        const trace::ThreadCall* call = waiting_call(here.symbol->frames[i].function);
        if (call != nullptr) facts.call = call;
      }
    }
    if (begins_with_one_of(module, kTransparent)) continue;
    const CodeKind kind = here.frames.empty() ? CodeKind::user : here.frames.front().kind;
    const bool is_user = kind == CodeKind::user || kind == CodeKind::outlined;
    facts.helper = !is_user || is_helper;
  }
  return facts;
}

uint32_t low(uint64_t word) {
  return static_cast<uint32_t>(word);
}

/// Word `bytes` behind the futex's address, which is where look::kWordsBefore says.
uint32_t word_behind(const ThreadLook& thread, int64_t bytes) {
  const int64_t at = static_cast<int64_t>(look::kWordsBefore * sizeof(uint64_t)) +
                     static_cast<int64_t>(thread.args[0] % sizeof(uint64_t)) + bytes;
  if (at < 0 || at + 4 > static_cast<int64_t>(sizeof thread.words)) return 0;
  const uint64_t word = thread.words[static_cast<size_t>(at) / sizeof(uint64_t)];
  return at % 8 == 0 ? low(word) : static_cast<uint32_t>(word >> 32);
}

/// Who owns a mutex, and who holds a read-write lock for writing (glibc's pthread_mutex_t and
/// pthread_rwlock_t); 0: nobody, or it is not known.
uint32_t owner_of_mutex(const ThreadLook& thread) {
  constexpr int64_t kOwner = 8;
  return word_behind(thread, kOwner);
}
uint32_t owner_of_rwlock(const ThreadLook& thread) {
  constexpr int64_t kFutexes[] = {8, 12};
  constexpr int64_t kWriter = 24;
  // The lock is aligned to 8 bytes.
  return word_behind(thread, kWriter - kFutexes[thread.args[0] % 8 == 0 ? 0 : 1]);
}

ThreadWait wait_of(const ThreadLook& thread, const StackFacts& facts) {
  const int operation = static_cast<int>(thread.args[1]) & FUTEX_CMD_MASK;
  ThreadWait wait;
  wait.kind = facts.call != nullptr ? kind_of(*facts.call) : ThreadWait::Kind::word;
  wait.shared = thread.object == look::kSharedMemory;
  wait.timed = thread.args[3] != 0;
  const bool inherits = operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
  // Who is woken from a condition takes its mutex back.
  const bool locks = inherits || (operation == FUTEX_WAIT && low(thread.args[2]) == 2);
  if (wait.kind == ThreadWait::Kind::condition && locks) wait.kind = ThreadWait::Kind::mutex;
  switch (wait.kind) {
    case ThreadWait::Kind::mutex:
      wait.owner = inherits ? word_behind(thread, 0) & FUTEX_TID_MASK : owner_of_mutex(thread);
      return wait;
    case ThreadWait::Kind::rwlock:
      wait.owner = owner_of_rwlock(thread);
      return wait;
    case ThreadWait::Kind::join:
      wait.owner = low(thread.args[2]);
      return wait;
    default:
      return wait;
  }
}

class Fill {
 public:
  Fill(EndedRun& run, std::vector<ThreadEnd>& ends) : run_(run), ends_(ends) {}

  void process(size_t folder, const ProcessLook& look) {
    std::unordered_map<uint32_t, size_t> lanes = lanes_of(folder);
    if (lanes.empty()) return;
    const ThreadAtEnd first = run_.lanes[lanes.begin()->second];
    for (const ThreadLook& thread : look.threads) {
      const auto known = lanes.find(thread.tid);
      if (known != lanes.end()) {
        thread_of(known->second, folder, look, thread);
        lanes.erase(known);
      } else if (is_the_programs(folder, thread)) {
        ThreadAtEnd added = first;
        added.log = nullptr;
        added.tid = thread.tid;
        run_.lanes.push_back(added);
        ends_.emplace_back();
        thread_of(run_.lanes.size() - 1, folder, look, thread);
      }
    }
    for (const auto& [tid, lane] : lanes) {
      if (!has_acted_since(lane, folder, look)) ends_[lane].ended = true;
    }
  }

 private:
  /// By the system's number of the thread.
  std::unordered_map<uint32_t, size_t> lanes_of(size_t folder) const {
    std::unordered_map<uint32_t, size_t> lanes;
    for (size_t i = 0; i < run_.lanes.size(); ++i) {
      const ThreadAtEnd& lane = run_.lanes[i];
      if (lane.log == nullptr || run_.processes.slots[lane.process.index()].folder != folder)
        continue;
      const bool is_first = lane.log->thread() == 0;
      const uint32_t tid = is_first ? run_.folders[folder].process.pid : ends_[i].trail.tid;
      if (tid != 0 && !ends_[i].ended) lanes[tid] = i;
    }
    return lanes;
  }

  /// Libraries of MPI and of runtimes have threads of their own, which serve the others. In doubt a
  /// thread is the program's.
  bool is_the_programs(size_t folder, const ThreadLook& thread) const {
    const StackFacts facts = facts_of(run_.code[folder], thread.stack);
    return facts.program || !facts.helper;
  }

  uint64_t ticks_of(size_t folder, uint64_t monotonic_ns) const {
    const trace::RawClockPair& known = run_.folders[folder].process.last;
    const auto distance =
        static_cast<double>(static_cast<int64_t>(monotonic_ns - known.monotonic_ns));
    return known.ticks +
           static_cast<uint64_t>(static_cast<int64_t>(distance / run_.clock.ns_per_tick(folder)));
  }

  /// Then what was seen may be out of date.
  bool has_acted_since(size_t lane, size_t folder, const ProcessLook& look) const {
    return ends_[lane].last_ticks > ticks_of(folder, look.at_ns);
  }

  void thread_of(size_t lane, size_t folder, const ProcessLook& look, const ThreadLook& thread) {
    ThreadEnd& end = ends_[lane];
    if (has_acted_since(lane, folder, look)) return;
    end.core = thread.core;
    end.runs = thread.state == 'R';
    if (thread.state == 'Z' || thread.state == 'X') end.ended = true;
    // What the records say of a wait has no stack.
    const bool waits = end.call.kind == CallKind::thread;
    if ((end.call.kind != CallKind::none && !waits) || thread.call == look::kNotInACall) return;
    if (waits && thread.stack.empty()) return;
    const look::SystemCall call = look::system_call(thread.call);
    const StackFacts facts = facts_of(run_.code[folder], thread.stack);
    OpenCall open;
    open.kind = CallKind::system;
    open.name = call.name;
    open.since = waits ? end.call.since : ticks_of(folder, thread.since_ns);
    open.stack = thread.stack;
    open.in_system = SystemWait{call.sort, thread.object, thread.holders, thread.state};
    if (call.sort == CallSort::futex && !thread.stack.empty()) {
      open.kind = CallKind::thread;
      open.thread_wait = wait_of(thread, facts);
      open.thread_wait->signals = look.handles_signals;
      open.name = facts.call != nullptr ? facts.call->name : "a futex wait";
    }
    end.call = std::move(open);
  }

  EndedRun& run_;
  std::vector<ThreadEnd>& ends_;
};

/// Records name the thread that is joined by its handle.
void find_joined(const EndedRun& run, std::vector<ThreadEnd>& ends) {
  for (size_t i = 0; i < ends.size(); ++i) {
    OpenCall& call = ends[i].call;
    const bool joins = call.thread_wait && call.thread_wait->kind == ThreadWait::Kind::join;
    if (!joins || call.thread_wait->owner != 0) continue;
    for (size_t other = 0; other < ends.size(); ++other) {
      if (run.lanes[other].process != run.lanes[i].process) continue;
      if (ends[other].trail.handle == call.object) call.thread_wait->owner = ends[other].trail.tid;
    }
  }
}

}  // namespace

void add_looks(EndedRun& run, std::vector<ThreadEnd>& ends) {
  find_joined(run, ends);
  Fill fill(run, ends);
  for (size_t i = 0; i < run.looks.size() && i < run.folders.size(); ++i) {
    if (run.looks[i]) fill.process(i, *run.looks[i]);
  }
}

}  // namespace culprit::assemble::stuck
