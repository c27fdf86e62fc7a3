// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Streams list their operations in order, and these do not overlap: ends are in order, too.
#include "replay/read/infer_waits.h"

#include <algorithm>

namespace culprit::replay {
namespace {

using trace::DeviceWaitFor;
using trace::OperationNumber;

/// Clocks of hosts and devices agree to a microsecond or so.
constexpr Duration kClockSlack = Duration::from_nanos(2000);
/// A call returns this soon after what it waited for; a long one, whose thread slept, within a part
/// of the time that it took.
constexpr Duration kReturnsWithin = Duration::from_nanos(20'000);
constexpr double kPartOfCall = 0.1;

class WaitGuesser {
 public:
  WaitGuesser(Run& run, const std::vector<LocationId>& streams) : run_(run), streams_(streams) {
    for (LocationId stream : streams) {
      for (const DeviceOperation& operation : run.at(stream).device.operations) {
        last_number_ = std::max(last_number_, static_cast<uint64_t>(operation.operation));
      }
    }
  }

  uint64_t unknown() const { return unknown_; }

  void guess(LocationId host) {
    Column<DeviceWait>& waits = run_.at(host).device.waits;
    size_t kept = 0;
    for (DeviceWait wait : waits) {
      const bool known = !is_unknown(wait) || guess(host, wait);
      if (known || keeps_unknown(wait)) waits[kept++] = wait;
    }
    waits.resize_uninitialized(kept);
  }

 private:
  bool is_unknown(const DeviceWait& wait) const {
    if (wait.what == DeviceWaitFor::operation) return wait.operation == OperationNumber::none;
    return wait.what == DeviceWaitFor::queue && wait.queue == trace::kNoDeviceQueue &&
           streams_.size() > 1;
  }

  /// A call that waits for some queue is none that had nothing to wait for.
  bool keeps_unknown(const DeviceWait& wait) const {
    return wait.what == DeviceWaitFor::queue && run_.definitions->numbers_operations();
  }

  /// False if there is nothing that the call may be taken to have waited for.
  bool guess(LocationId host, DeviceWait& wait) {
    const Call call = run_.call(host, wait.call);
    DeviceOperation* last = nullptr;
    bool another = false;  // that ended at the same time
    for (LocationId stream : streams_) {
      DeviceOperation* const one = last_awaited(stream, call);
      if (one == nullptr || (last != nullptr && one->end < last->end)) continue;
      another = last != nullptr && one->end == last->end;
      last = one;
    }
    const Duration took = call.leave - call.enter;
    const Duration most = std::max(
        kReturnsWithin, Duration::from_nanos(
                            static_cast<int64_t>(kPartOfCall * static_cast<double>(took.nanos()))));
    if (last == nullptr || another || call.leave - last->end > most) {
      if (took <= kReturnsWithin) return false;  // all was done already
      ++unknown_;
      run_.at(host).device.unknown_waits.push_back(wait.call);
      return false;
    }
    if (last->operation == OperationNumber::none) last->operation = OperationNumber{++last_number_};
    wait.what = DeviceWaitFor::operation;
    wait.operation = last->operation;
    return true;
  }

  /// The stream's last operation that ended during the call and had been handed over before it.
  DeviceOperation* last_awaited(LocationId stream, const Call& call) {
    Column<DeviceOperation>& all = run_.at(stream).device.operations;
    DeviceOperation* at =
        std::partition_point(all.begin(), all.end(), [&](const DeviceOperation& operation) {
          return operation.end <= call.leave + kClockSlack;
        });
    while (at != all.begin() && (--at)->end > call.enter) {
      if (!keeps_device_busy(at->kind)) continue;
      const LaunchRef& launch = at->launch;
      if (!launch.valid()) return at->begin < call.leave ? at : nullptr;
      const DeviceLaunch& handed = run_.at(launch.host).device.launches[launch.launch];
      if (run_.call(launch.host, handed.call).enter <= call.enter) return at;
    }
    return nullptr;
  }

  Run& run_;
  const std::vector<LocationId>& streams_;
  uint64_t last_number_ = 0;
  uint64_t unknown_ = 0;
};

}  // namespace

void infer_waits(Run& run, const std::vector<LocationId>& hosts,
                 const std::vector<LocationId>& streams, Losses& losses) {
  WaitGuesser guesser(run, streams);
  for (LocationId host : hosts) guesser.guess(host);
  // The measurement counts them itself.
  if (run.definitions->creator.starts_with(trace::kOwnCreator)) return;
  losses.add(LossKind::device_waits_for_unknown_queues, guesser.unknown());
}

}  // namespace culprit::replay
