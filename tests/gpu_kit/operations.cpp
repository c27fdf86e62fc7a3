// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// operations <experiment>: what its trace says that devices did, in lines that a script can take
// apart:
//   operation <kind> <how many> <nanoseconds> <nodes of graphs among them> <name>
//   launch <how many> <of which an operation is in the trace>
//   queue <how many locations of devices>
//   wait <calls that waited for a device> <for a queue> <for an operation> <for a queue unknown>
//   room <launches that waited for an operation, so that there was room for theirs>
//   start_up <how many times a runtime started something up> <nanoseconds>
//   clock <waits behind a launch> <nanoseconds by which the launched operation ended after its
//   wait>
// A measure for the GPU kit's checks that depends on no report.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/otf2/reader.h"

namespace {

using namespace culprit;
using namespace culprit::trace;

constexpr const char* kKinds[] = {"kernel", "copy",   "fill",  "map", "migrate",
                                  "wait",   "marker", "graph", "host"};

struct Sum {
  uint64_t count = 0;
  int64_t nanoseconds = 0;
  uint64_t nodes = 0;
};

/// When a call returned that waited, and what its thread had launched last.
struct Waited {
  OperationNumber operation;
  Time returned;
};

struct Tally {
  std::map<std::pair<std::string, std::string>, Sum> operations;  ///< by kind and name
  std::multiset<OperationNumber> launches;
  std::map<OperationNumber, Time> executed;  ///< and when it ended
  size_t queues = 0;
  size_t waits[3] = {};  ///< by DeviceWaitFor
  size_t unknown_waits = 0, room = 0;
  Sum start_up;
  std::vector<Waited> waited;
};

/// One location; a stream's operations do not overlap.
class Reading : public EventSink {
 public:
  Reading(const Definitions& definitions, Tally& tally)
      : definitions_(definitions), tally_(tally) {}

  void enter(Time time, RegionId region) override {
    begin_ = time;
    name_ = definitions_.regions[region.index()].name;
    if (name_ != kDeviceStartUp) launched_here_ = waited_here_ = false;
    sum_ = nullptr;
  }
  void device_operation(Time, const DeviceOperation& operation) override {
    const auto kind = static_cast<size_t>(operation.kind);
    sum_ = &tally_.operations[{kind < std::size(kKinds) ? kKinds[kind] : "other", name_}];
    ++sum_->count;
    if (operation.graph_node != 0) ++sum_->nodes;
    operation_ = operation.operation;
  }
  void leave(Time time, RegionId region) override {
    if (sum_ != nullptr) {
      sum_->nanoseconds += (time - begin_).nanos();
      tally_.executed[operation_] = time;
    } else if (definitions_.regions[region.index()].name == kDeviceStartUp) {
      ++tally_.start_up.count;
      tally_.start_up.nanoseconds += (time - begin_).nanos();
    } else if (std::exchange(waited_here_, false) && !launched_here_ &&
               last_ != OperationNumber::none) {
      tally_.waited.push_back({last_, time});
    }
    sum_ = nullptr;
  }
  void device_wait(Time, const DeviceWait& wait) override {
    ++(is_unknown(wait) ? tally_.unknown_waits : tally_.waits[static_cast<size_t>(wait.what)]);
    if (launched_here_ && wait.operation != last_) ++tally_.room;
    waited_here_ = true;
  }
  /// Recorded events and waits of streams are no operations that take time.
  void device_launch(Time, const DeviceLaunch& launch) override {
    if (launch.kind == DeviceOpKind::marker || launch.kind == DeviceOpKind::wait) return;
    tally_.launches.insert(launch.operation);
    last_ = launch.operation;
    launched_here_ = true;
  }

 private:
  static bool is_unknown(const DeviceWait& wait) {
    return wait.what == DeviceWaitFor::queue && wait.queue == kNoDeviceQueue;
  }

  const Definitions& definitions_;
  Tally& tally_;
  Time begin_;
  std::string name_;
  Sum* sum_ = nullptr;
  OperationNumber operation_ = OperationNumber::none;  ///< that the stream executes
  OperationNumber last_ = OperationNumber::none;       ///< that this thread has launched
  bool launched_here_ = false, waited_here_ = false;   ///< in the call at hand
};

/// By how much the operation ended after the wait for it, at the most.
int64_t latest(const Tally& tally) {
  int64_t latest = 0;
  for (const Waited& waited : tally.waited) {
    const auto operation = tally.executed.find(waited.operation);
    if (operation == tally.executed.end()) continue;
    latest = std::max(latest, (operation->second - waited.returned).nanos());
  }
  return latest;
}

void print(const Tally& tally) {
  for (const auto& [key, sum] : tally.operations) {
    std::printf("operation %s %llu %lld %llu %s\n", key.first.c_str(),
                static_cast<unsigned long long>(sum.count), static_cast<long long>(sum.nanoseconds),
                static_cast<unsigned long long>(sum.nodes), key.second.c_str());
  }
  size_t found = 0;
  for (const OperationNumber launch : tally.launches) found += tally.executed.count(launch);
  std::printf("launch %zu %zu\nqueue %zu\n", tally.launches.size(), found, tally.queues);
  const auto waits = [&](DeviceWaitFor what) { return tally.waits[static_cast<size_t>(what)]; };
  std::printf("wait %zu %zu %zu %zu\nroom %zu\n", waits(DeviceWaitFor::device),
              waits(DeviceWaitFor::queue), waits(DeviceWaitFor::operation), tally.unknown_waits,
              tally.room);
  std::printf("start_up %llu %lld\nclock %zu %lld\n",
              static_cast<unsigned long long>(tally.start_up.count),
              static_cast<long long>(tally.start_up.nanoseconds), tally.waited.size(),
              static_cast<long long>(latest(tally)));
}

int read(const std::string& experiment) {
  Losses losses;
  const auto source = open_otf2(experiment + "/trace/traces.otf2", losses);
  if (!source.ok()) {
    std::fprintf(stderr, "operations: %s\n", source.error().sentence.c_str());
    return 1;
  }
  const Definitions& definitions = source.value()->definitions();
  Tally tally;
  for (size_t i = 0; i < definitions.locations.size(); ++i) {
    Reading reading(definitions, tally);
    if (!source.value()->read(LocationId(i), reading, losses).ok()) return 1;
    if (definitions.locations[i].kind == LocationKind::accelerator_stream) ++tally.queues;
  }
  print(tally);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: operations <experiment>\n");
    return 2;
  }
  return read(argv[1]);
}
