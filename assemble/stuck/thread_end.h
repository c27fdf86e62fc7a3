// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The calls that a thread was in when its log ended, and the facts that others need to decide
// whether they wait for it: from one walk over its records. Numbers of communicators, windows,
// files and requests are those of its process.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assemble/look/system_calls.h"
#include "assemble/raw/reader.h"
#include "assemble/stuck/thread_wait.h"
#include "assemble/stuck/trail.h"
#include "trace/events.h"

namespace culprit::assemble::stuck {

/// A message as one side describes it.
struct MessageSide {
  uint32_t comm = 0;
  int32_t peer = trace::kRawAny;
  int32_t tag = trace::kRawAny;
};

/// mpi_awaits.
struct Awaited {
  trace::RawAwaits what = trace::RawAwaits::message;
  uint32_t arg = 0;
  std::vector<uint64_t> words;
};

enum class CallKind : uint8_t {
  none,  ///< it computes, or its activity is not observed
  mpi,
  barrier,  ///< of a team
  tasks,    ///< taskwait, taskgroup
  mutex,
  device,
  tests,   ///< calls of MPI that test, again and again
  thread,  ///< it is blocked by another thread of its process, according to the system
  system,  ///< it is blocked in a system call, likewise
};

/// The object of a thread's wait in a call of the system.
struct SystemWait {
  look::CallSort sort = look::CallSort::other;
  std::string object;
  std::vector<uint32_t> holders;  ///< processes that could let it go on
  char state = '?';
};

struct OpenCall {
  CallKind kind = CallKind::none;
  uint64_t since = 0;  ///< ticks
  uint32_t path = 0;
  uint64_t code = 0;  ///< return address of the call into the runtime, where there is no path
  std::string name;   ///< of MPI's and devices' functions
  std::optional<Awaited> awaited;
  std::optional<MessageSide> send;  ///< MPI: a blocking send, of which it may be the second half
  uint64_t region = 0;              ///< barrier: the team's
  uint64_t object = 0;              ///< mutex
  struct Lock {
    uint32_t window;
    uint64_t target;
    bool exclusive;
  };
  std::optional<Lock> lock;     ///< MPI_Win_lock
  std::vector<uint64_t> stack;  ///< thread, system: return addresses, innermost first
  std::optional<ThreadWait> thread_wait;
  bool again = false;  ///< thread: it began anew each time its time was up
  std::optional<SystemWait> in_system;

  bool is_probe() const;  ///< of MPI, by its name
};

/// An operation that goes on beside the calls.
struct Pending {
  enum class Kind : uint8_t { send, recv, collective } kind = Kind::recv;
  uint64_t ticks = 0;
  uint64_t request = 0;
  uint64_t handle = 0;  ///< 0: unknown
  MessageSide message;  ///< collective: only the communicator
  trace::CollectiveOp op = trace::CollectiveOp::other;
  uint64_t place = 0;  ///< collective: how many came before it on its communicator, of this thread;
                       ///< send: how many with the same communicator, peer and tag
  uint32_t thread = 0;
  bool in_partitions = false;  ///< send: some of its partitions are not ready yet
};

/// A sequence of operations that all members do in the same order.
struct Channel {
  enum class Kind : uint8_t { collective, window_making, file_opening, window, file } kind;
  uint32_t number = 0;  ///< of the communicator, window or file
  auto operator<=>(const Channel&) const = default;
};

/// A thread's place in a team.
struct Membership {
  uint64_t region = 0;
  uint32_t size = 0;
  uint32_t index = 0;
  uint32_t barriers = 0;  ///< that it has reached
};

struct RmaHold {
  uint32_t window = 0;
  uint64_t target = 0;  ///< rank in the window, or trace::kRawAllTargets
  bool exclusive = false;
};

struct ThreadEnd {
  OpenCall call;
  uint64_t last_ticks = 0;  ///< of any record
  bool ended = false;       ///< the thread
  bool calls_mpi = false;
  std::vector<Membership> teams;                  ///< outermost first
  std::unordered_map<uint64_t, Pending> pending;  ///< by request
  std::vector<uint64_t> completed;                ///< requests that another thread has posted
  std::vector<uint64_t> handed_over;              ///< requests of which all partitions are ready
  std::map<Channel, uint64_t> done;               ///< how many operations on it are over, or begun
  std::unordered_set<uint64_t> holds;             ///< mutexes
  std::unordered_map<uint64_t, uint64_t> tasks;  ///< created here and, as far as this thread knows,
                                                 ///< not complete -> parent
  std::vector<uint64_t> tasks_done;              ///< of other threads
  std::vector<uint64_t> detached;                ///< of which the body ended here
  std::vector<uint64_t> tasks_inside;            ///< that it is in, outermost first
  std::vector<RmaHold> locks;                    ///< of windows
  std::map<uint32_t, std::vector<uint32_t>> exposed;   ///< window -> ranks it was posted to
  std::map<uint32_t, std::vector<uint32_t>> accessed;  ///< window -> ranks of the open access epoch
  uint64_t initialized = 0;  ///< when MPI was, in ticks; 0: not by this thread
  uint64_t finalized = 0;    ///< likewise
  Trail trail;
  bool runs = false;  ///< or would, if it had a core
  double core = -1;   ///< share of a core that it used lately; < 0: unknown
  std::unordered_map<uint32_t, std::pair<uint32_t, uint64_t>> paths;  ///< id -> parent, address

  /// Return addresses of the call's path, innermost first.
  std::vector<uint64_t> addresses() const;
  /// Likewise, of any path of the thread's.
  std::vector<uint64_t> addresses(uint32_t path) const;
};

ThreadEnd end_of(const RawLog& log);

}  // namespace culprit::assemble::stuck
