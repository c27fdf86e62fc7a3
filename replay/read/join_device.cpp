// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Operations are first joined by number. Those without a number are matched by order, if their
// stream is the only one and the clocks of both sides allow only one answer.
#include "replay/read/join_device.h"

#include <algorithm>

#include "base/parallel.h"
#include "replay/read/in_order.h"
#include "replay/read/infer_waits.h"

namespace culprit::replay {

namespace {

using trace::DeviceOpKind;
using trace::OperationNumber;

/// Whose absence on the other side is a loss: marks and waits may leave no trace there.
constexpr bool must_be_joined(DeviceOpKind kind) {
  return kind == DeviceOpKind::kernel || kind == DeviceOpKind::copy || kind == DeviceOpKind::fill ||
         kind == DeviceOpKind::graph;
}

class DeviceJoiner {
 public:
  DeviceJoiner(Run& run, const DeviceProcess& process, Losses& losses)
      : run_(run), process_(process), losses_(losses) {}

  void join() {
    if (!run_.definitions->numbers_operations()) number_by_order();
    const OperationIndex index(run_, process_);
    uint64_t orphans = 0, lost = 0;
    for (LocationId stream : process_.streams) {
      for (DeviceOperation& operation : run_.at(stream).device.operations) {
        const auto place = index.launched(operation.operation);
        if (place) operation.launch = {place->location, place->index};
        orphans += must_be_joined(operation.kind) && !place;
      }
    }
    for (LocationId host : process_.hosts) {
      for (const DeviceLaunch& launch : run_.at(host).device.launches) {
        lost += must_be_joined(launch.kind) && !index.executed(launch.operation);
      }
    }
    losses_.add(LossKind::device_operations_without_launch, orphans);
    losses_.add(LossKind::device_launches_without_operation, lost);
    infer_waits(run_, process_.hosts, process_.streams, losses_);
  }

 private:
  /// The calls of one kind of work, and the stream's operations of that kind.
  struct Work {
    std::vector<LaunchRef> launched;
    std::vector<HandedOver> calls;
    std::vector<bool> overlap;  ///< the call and one of another thread: either may have been first
    std::vector<DeviceOperation*> operations;
    std::vector<Executed> executed;
  };

  /// Archives that number nothing. Clocks may disagree twice as much as they are seen to.
  void number_by_order() {
    if (process_.streams.size() != 1 || has_other_work()) return;
    using enum trace::CopyDirection;
    Work works[] = {
        work_of(DeviceOpKind::kernel, none, {DeviceCall::launch, DeviceCall::launch}),
        work_of(DeviceOpKind::copy, to_device, {DeviceCall::copy_in, DeviceCall::copy_in}),
        work_of(DeviceOpKind::copy, from_device,
                {DeviceCall::copy_out, DeviceCall::copy_out_async}),
    };
    constexpr Duration kNever = Time::max() - Time();
    Duration slack = Duration::from_nanos(1000);
    for (Work& work : works) {
      const Duration seen = clock_disagreement(work.calls, work.executed);
      if (seen == kNever) work = {};
      if (seen != kNever) slack = std::max(slack, seen);
    }
    for (const Work& work : works) number(work, slack + slack);
    name_own_operations();
  }

  /// Operations may be of calls that are not known here.
  bool has_other_work() const {
    return std::any_of(process_.hosts.begin(), process_.hosts.end(), [&](LocationId host) {
      const auto& launches = run_.at(host).device.launches;
      return std::any_of(launches.begin(), launches.end(), [](const DeviceLaunch& launch) {
        return static_cast<DeviceCall>(launch.queue) == DeviceCall::other_work;
      });
    });
  }

  struct Launched {
    HandedOver handed;
    Time leave;
    LaunchRef ref;
  };

  /// Which event it is is unknown: it may stand for what was handed over long before.
  static bool is_for_event(const DeviceWait& wait) {
    return wait.what == trace::DeviceWaitFor::operation && wait.queue == trace::kNoDeviceQueue;
  }

  /// A work's calls of all threads, in order.
  std::vector<Launched> launched_by(std::pair<DeviceCall, DeviceCall> calls) const {
    std::vector<Launched> launched;
    for (LocationId host : process_.hosts) {
      const DeviceFacts& facts = run_.at(host).device;
      size_t wait = 0;
      for (uint32_t i = 0; i < facts.launches.size(); ++i) {
        const auto call = static_cast<DeviceCall>(facts.launches[i].queue);
        if (call != calls.first && call != calls.second) continue;
        while (wait < facts.waits.size() && (facts.waits[wait].call < facts.launches[i].call ||
                                             is_for_event(facts.waits[wait]))) {
          ++wait;
        }
        const auto visit = run_.call(host, facts.launches[i].call);
        HandedOver handed{visit.enter};
        if (wait < facts.waits.size()) handed.done = run_.call(host, facts.waits[wait].call).leave;
        launched.push_back({handed, visit.leave, {host, i}});
      }
    }
    std::stable_sort(launched.begin(), launched.end(), [](const Launched& a, const Launched& b) {
      return a.handed.enter < b.handed.enter;
    });
    return launched;
  }

  Work work_of(DeviceOpKind kind, trace::CopyDirection direction,
               std::pair<DeviceCall, DeviceCall> calls) {
    const std::vector<Launched> launched = launched_by(calls);
    Work work;
    for (const Launched& call : launched) {
      work.calls.push_back(call.handed);
      work.launched.push_back(call.ref);
    }
    find_overlaps(launched, work);
    // When a later operation of a stream is done, all earlier ones are.
    for (size_t i = work.calls.size(); i-- > 1;) {
      work.calls[i - 1].done = std::min(work.calls[i - 1].done, work.calls[i].done);
    }
    for (DeviceOperation& operation : run_.at(process_.streams[0]).device.operations) {
      if (operation.kind != kind || operation.direction != direction) continue;
      work.operations.push_back(&operation);
      work.executed.push_back({operation.begin, operation.end});
    }
    return work;
  }

  /// Calls of one thread never overlap. Of those that do nothing is known but when all are done.
  static void find_overlaps(const std::vector<Launched>& launched, Work& work) {
    work.overlap.resize(launched.size());
    for (size_t first = 0, next = 0; first < launched.size(); first = next) {
      Time last = launched[first].leave;
      Time done = launched[first].handed.done;
      for (next = first + 1; next < launched.size() && launched[next].handed.enter < last; ++next) {
        last = std::max(last, launched[next].leave);
        done = std::max(done, launched[next].handed.done);
      }
      if (next == first + 1) continue;
      for (size_t i = first; i < next; ++i) {
        work.overlap[i] = true;
        work.calls[i].done = done;
      }
    }
  }

  void number(const Work& work, Duration slack) {
    const std::vector<uint32_t> calls = match_in_order(work.calls, work.executed, slack);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i] == kNoCall || work.overlap[calls[i]]) continue;
      const LaunchRef& launched = work.launched[calls[i]];
      const OperationNumber number{++numbers_};
      work.operations[i]->operation = number;
      run_.at(launched.host).device.launches[launched.launch].operation = number;
    }
  }

  /// Numbers the operations of blocking copies.
  void name_own_operations() {
    for (LocationId host : process_.hosts) {
      DeviceFacts& facts = run_.at(host).device;
      size_t next = 0;
      for (DeviceWait& wait : facts.waits) {
        if (wait.what != trace::DeviceWaitFor::operation) continue;
        while (next < facts.launches.size() && facts.launches[next].call < wait.call) ++next;
        if (next < facts.launches.size() && facts.launches[next].call == wait.call) {
          wait.operation = facts.launches[next].operation;
        }
        // Which copy it was is not known, but it was the last thing in the only stream then.
        if (!is_for_event(wait) && wait.operation == OperationNumber::none) {
          wait.what = trace::DeviceWaitFor::queue;
          wait.queue = run_.location(process_.streams[0]).queue;
        }
      }
    }
  }

  Run& run_;
  const DeviceProcess& process_;
  Losses& losses_;
  uint64_t numbers_ = 0;
};

}  // namespace

DeviceProcess::DeviceProcess(const Run& run, ProcessId process) {
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    if (!run.at(id).empty()) (run.is_stream(id) ? streams : hosts).push_back(id);
  }
  std::sort(hosts.begin(), hosts.end());
  std::sort(streams.begin(), streams.end());
}

OperationIndex::OperationIndex(const Run& run, const DeviceProcess& process) {
  const auto add = [](std::vector<Place>& places, FlatMap& index, OperationNumber operation,
                      const Place& place) {
    if (operation == OperationNumber::none) return;
    const auto fresh = static_cast<uint32_t>(places.size());
    if (index.at(static_cast<uint64_t>(operation), fresh) == fresh) places.push_back(place);
  };
  for (LocationId stream : process.streams) {
    const auto& operations = run.at(stream).device.operations;
    for (uint32_t i = 0; i < operations.size(); ++i) {
      add(operations_, operation_of_, operations[i].operation, {stream, i});
    }
  }
  for (LocationId host : process.hosts) {
    const auto& launches = run.at(host).device.launches;
    for (uint32_t i = 0; i < launches.size(); ++i) {
      add(launches_, launch_of_, launches[i].operation, {host, i});
    }
  }
}

std::optional<OperationIndex::Place> OperationIndex::find(const std::vector<Place>& places,
                                                          const FlatMap& index,
                                                          OperationNumber operation) {
  const uint32_t place = index.find(static_cast<uint64_t>(operation));
  if (place == FlatMap::kNone) return std::nullopt;
  return places[place];
}

void join_device(Run& run, unsigned threads) {
  const size_t processes = run.definitions->processes.size();
  std::vector<Losses> losses(processes);
  parallel_for(processes, threads, [&](size_t p) {
    const DeviceProcess process(run, ProcessId(p));
    if (!process.streams.empty() || !process.hosts.empty()) {
      DeviceJoiner(run, process, losses[p]).join();
    }
  });
  for (const Losses& loss : losses) run.losses.merge(loss);
}

}  // namespace culprit::replay
