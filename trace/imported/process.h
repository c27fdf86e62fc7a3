// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One process of a job as another tool's trace describes it: calls of its threads, operations of
// the queues of its devices, and what synchronized the two. Importers of all formats fill it, in
// any order of time; source.h makes a trace of it. The number by which a call and what it handed
// over know each other is the tool's own ("correlation").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/losses.h"
#include "trace/collective_op.h"
#include "trace/definitions.h"
#include "trace/device.h"

namespace culprit::trace {

/// Times are nanoseconds of the tool's clock, which is the same for all processes of a job.
struct ImportedSpan {
  int64_t begin = 0;
  int64_t end = 0;
};

/// A function, an operator, a range, a call of a device's runtime.
struct ImportedCall : ImportedSpan {
  RegionId region;
  /// Of a call of a device's runtime its correlation, 0: none; of an iteration its number.
  uint64_t number = 0;
};

/// A device's queue, as the tool numbers it.
struct QueueKey {
  uint64_t device = 0;
  uint64_t context = 0;
  int64_t stream = 0;
  auto operator<=>(const QueueKey&) const = default;
};

struct ImportedOperation : ImportedSpan {
  RegionId region;
  uint64_t correlation = 0;
  uint64_t bytes = 0;
  DeviceOpKind kind = DeviceOpKind::kernel;
  CopyDirection direction = CopyDirection::none;
  HostMemory memory = HostMemory::unknown;
};

/// What a call of a device's runtime waits for, or makes a queue wait for.
struct ImportedSync {
  enum class What : uint8_t {
    host_for_queue,
    host_for_device,
    host_for_event,
    queue_for_event,
  };
  What what = What::host_for_queue;
  uint64_t correlation = 0;  ///< of the call
  QueueKey queue;            ///< that is waited for, or that waits
  uint64_t recorded_by = 0;  ///< correlation of the call that recorded the event; 0: unknown
  QueueKey recorded_on;
};

/// What a call of MPI or OpenMP does besides taking time. `call` is the number of the call, which
/// is unique on its thread and at least 1.
struct ImportedAct {
  enum class What : uint8_t {
    // As the call begins
    send,
    isend,
    irecv_request,
    fork,
    team_begin,
    // As it ends
    isend_complete,
    recv,
    irecv,
    collective,
    team_end,
    join,
  };
  uint64_t call = 0;
  What what = What::send;
  CollectiveOp op = CollectiveOp::other;  ///< of a collective
  bool is_root = false;
  uint32_t comm = 0;   ///< position among those of the job
  uint32_t peer = 0;   ///< of a message: rank in it
  int32_t tag = 0;     ///< likewise
  uint64_t bytes = 0;  ///< of a collective: sent
  uint64_t received = 0;
  uint64_t number = 0;  ///< of a request; of a parallel region

  bool is_at_end() const { return what >= What::isend_complete; }
};

struct ImportedThread {
  std::string name;
  std::vector<ImportedCall> calls;
  std::vector<ImportedAct> acts;  ///< in any order; those of one call in their order
};

struct ImportedProcess {
  std::string file;              ///< that tells of it
  std::string node;              ///< empty: unknown
  std::string program;           ///< if it is known
  std::optional<uint32_t> rank;  ///< as the trace says
  int64_t main_thread = 0;       ///< its key; if there is none, the one with the most calls counts
  std::map<int64_t, ImportedThread> threads;  ///< by the tool's number
  std::map<QueueKey, std::vector<ImportedOperation>> queues;
  std::map<uint64_t, std::string> device_names;
  std::vector<ImportedSync> syncs;
  std::vector<Region> regions;  ///< of this process alone
  Losses losses;
};

/// A communicator of a job.
struct ImportedComm {
  std::string name;
  CommKind kind = CommKind::mpi;
  std::vector<uint32_t> members;  ///< by rank in it: positions among the processes of the job
};

/// Regions of a process that is read, each once. MT: externally synchronised.
class ImportedRegions {
 public:
  explicit ImportedRegions(std::vector<Region>& regions) : regions_(regions) {}

  /// The region of what the tool calls `name`. `make` is asked for its description when the name
  /// comes for the first time in this category.
  template <class Make>
  RegionId of(std::string_view name, uint32_t category, const Make& make) {
    key_.assign(name);
    key_ += '\n';
    key_ += static_cast<char>('0' + category);
    const auto [place, fresh] = known_.try_emplace(key_, RegionId(regions_.size()));
    if (fresh) regions_.push_back(make(name));
    return place->second;
  }

 private:
  std::vector<Region>& regions_;
  std::unordered_map<std::string, RegionId> known_;
  std::string key_;
};

/// Regions as all importers describe them. Call paths are joined by '/', so names have none.
Region imported_function(std::string_view name, std::string_view file = {}, uint32_t line = 0);
/// A function that works for whoever calls it: an operator, a function of a library.
Region imported_library_function(std::string_view name, std::string_view file = {},
                                 uint32_t line = 0);
Region imported_user_region(std::string_view name);
Region imported_iteration(std::string_view name);
/// A call of a device's runtime, which its name tells.
Region imported_device_call(std::string_view name);
Region imported_kernel(std::string_view name, Paradigm paradigm);
Region imported_transfer(DeviceOpKind kind, CopyDirection direction, Paradigm paradigm);

/// "<built-in method f of T object>" of the same with an address, which no two runs have in common.
std::string without_addresses(std::string_view name);

}  // namespace culprit::trace
