// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// operations <experiment>: what its trace says that devices did, in lines that a script can take
// apart:
//   operation <kind> <how many> <nanoseconds> <nodes of graphs among them> <name>
//   launch <how many> <of which an operation is in the trace>
//   queue <how many locations of devices>
// A measure for the GPU kit's checks that depends on no report.

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>

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

struct Tally {
  std::map<std::pair<std::string, std::string>, Sum> operations;  ///< by kind and name
  std::multiset<OperationNumber> launches;
  std::set<OperationNumber> executed;
  size_t queues = 0;
};

/// One location; a stream's operations do not overlap.
class Reading : public EventSink {
 public:
  Reading(const Definitions& definitions, Tally& tally)
      : definitions_(definitions), tally_(tally) {}

  void enter(Time time, RegionId region) override {
    begin_ = time;
    name_ = definitions_.regions[region.index()].name;
    sum_ = nullptr;
  }
  void device_operation(Time, const DeviceOperation& operation) override {
    const auto kind = static_cast<size_t>(operation.kind);
    sum_ = &tally_.operations[{kind < std::size(kKinds) ? kKinds[kind] : "other", name_}];
    ++sum_->count;
    if (operation.graph_node != 0) ++sum_->nodes;
    tally_.executed.insert(operation.operation);
  }
  void leave(Time time, RegionId) override {
    if (sum_ != nullptr) sum_->nanoseconds += (time - begin_).nanos();
    sum_ = nullptr;
  }
  /// Recorded events and waits of streams are no operations that take time.
  void device_launch(Time, const DeviceLaunch& launch) override {
    if (launch.kind == DeviceOpKind::marker || launch.kind == DeviceOpKind::wait) return;
    tally_.launches.insert(launch.operation);
  }

 private:
  const Definitions& definitions_;
  Tally& tally_;
  Time begin_;
  std::string name_;
  Sum* sum_ = nullptr;
};

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
  for (const auto& [key, sum] : tally.operations) {
    std::printf("operation %s %llu %lld %llu %s\n", key.first.c_str(),
                static_cast<unsigned long long>(sum.count), static_cast<long long>(sum.nanoseconds),
                static_cast<unsigned long long>(sum.nodes), key.second.c_str());
  }
  size_t found = 0;
  for (const OperationNumber launch : tally.launches) found += tally.executed.count(launch);
  std::printf("launch %zu %zu\nqueue %zu\n", tally.launches.size(), found, tally.queues);
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
