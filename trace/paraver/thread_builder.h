// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Makes calls of one thread's events, and operations of a device's stream: events say where things
// begin and end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/losses.h"
#include "trace/imported/process.h"
#include "trace/paraver/labels.h"
#include "trace/paraver/records.h"

namespace culprit::trace {

/// A call of MPI, as those who look for messages need it.
struct MpiVisit : ImportedSpan {
  uint64_t number = 0;
  bool returns_at_once = false;  ///< it only starts what another call completes
};

/// A visit of a parallel region, or of the function that is its body.
struct ParallelVisit : ImportedSpan {
  uint64_t number = 0;
};

struct BuiltThread {
  std::vector<MpiVisit> mpi;  ///< in order of their begin
  std::vector<ParallelVisit> regions, bodies;
  std::vector<ParallelVisit> device_calls;
};

class ThreadBuilder {
 public:
  /// Position of a communicator among those of the job, by its number; none: unknown.
  using CommOf = std::function<std::optional<uint32_t>(uint64_t)>;

  /// `numbers` is the last number of a call of the process.
  ThreadBuilder(const ParaverLabels& labels, ImportedProcess& process, ImportedRegions& regions,
                uint64_t& numbers, const CommOf& comm_of, uint32_t world)
      : labels_(labels),
        process_(process),
        regions_(regions),
        numbers_(numbers),
        comm_of_(comm_of),
        world_(world) {}

  BuiltThread build(const ParaverThread& thread);

 private:
  struct Open {
    EventMeaning meaning;
    ImportedCall call;
    std::string_view name;
    std::string_view caller, caller_line;
    std::optional<uint64_t> comm;
    uint64_t sent = 0, received = 0;
    bool is_root = false;
  };

  void see(const ParaverEvent& event);
  void begin(const ParaverEvent& event);
  void describe(const ParaverEvent& event);
  void end(EventMeaning meaning, int64_t time);
  void close(int64_t time);
  void close_mpi(const Open& open);
  void name_caller(const Open& open);
  void close_operation(const Open& open, int64_t time);
  RegionId region_of(const ParaverEvent& event, std::string_view name);
  void name_edges(const ParaverThread& thread);

  const ParaverLabels& labels_;
  ImportedProcess& process_;
  ImportedRegions& regions_;
  uint64_t& numbers_;
  const CommOf& comm_of_;
  const uint32_t world_;
  std::vector<Open> open_;
  ImportedThread* thread_ = nullptr;
  int64_t key_ = 0;
  BuiltThread built_;
};

}  // namespace culprit::trace
