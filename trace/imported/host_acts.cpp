// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An event that a call recorded on a queue stands for the last operation that was handed over to
// that queue before. Operations are compared by when their calls were entered: threads may hand
// over to one queue.
#include "trace/imported/host_acts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "trace/device_apis.h"
#include "trace/device_calls.h"

namespace culprit::trace {
namespace {

using Moments = std::unordered_map<uint64_t, int64_t>;

/// When each call of a device's runtime was entered, by correlation. Of several with one number
/// the first counts.
Moments moments_of_calls(const ImportedProcess& process) {
  Moments moments;
  for (const auto& [key, thread] : process.threads) {
    for (const ImportedCall& call : thread.calls) {
      const Region& region = process.regions[call.region.index()];
      if (call.number == 0 || region.role == RegionRole::iteration) continue;
      const auto [place, fresh] = moments.try_emplace(call.number, call.begin);
      if (!fresh) place->second = std::min(place->second, call.begin);
    }
  }
  return moments;
}

struct HandedOver {
  int64_t enter;
  OperationNumber number;
};

/// A queue's operations whose calls are known, in the order of these.
std::vector<HandedOver> handed_over_to(const ImportedQueue& queue, const Moments& moments) {
  std::vector<HandedOver> handed;
  for (size_t lane = 0; lane < queue.lanes.size(); ++lane) {
    for (size_t i = 0; i < queue.lanes[lane].size(); ++i) {
      const auto call = moments.find(queue.lanes[lane][i].correlation);
      if (call != moments.end()) handed.push_back({call->second, queue.numbers[lane][i]});
    }
  }
  std::stable_sort(handed.begin(), handed.end(),
                   [](const HandedOver& a, const HandedOver& b) { return a.enter < b.enter; });
  return handed;
}

OperationNumber last_before(const std::vector<HandedOver>& handed, int64_t time) {
  const auto after =
      std::upper_bound(handed.begin(), handed.end(), time,
                       [](int64_t at, const HandedOver& one) { return at < one.enter; });
  return after == handed.begin() ? OperationNumber::none : (after - 1)->number;
}

}  // namespace

/// Queues and events are not in a name.
HostActs::Meaning HostActs::meaning_of(std::string_view function) {
  Meaning meaning;
  meaning.copies = is_device_call(function, DeviceTrait::copies);
  meaning.waits = waits_for_devices(function);
  if (is_device_call(function, DeviceTrait::waits_for_device)) {
    meaning.what = DeviceWaitFor::device;
  } else if (is_device_call(function, DeviceTrait::waits_for_event)) {
    meaning.what = DeviceWaitFor::operation;
  }
  return meaning;
}

HostActs::HostActs(const ImportedProcess& process, std::vector<ImportedQueue>& queues)
    : no_queue_(static_cast<uint32_t>(queues.size())) {
  for (const Region& region : process.regions) {
    meanings_.push_back(is_device_api(region.paradigm) ? meaning_of(region.name) : Meaning());
  }
  number_operations(queues);
  take_syncs(process, queues);
  std::sort(launches_.begin(), launches_.end());
  std::stable_sort(waits_.begin(), waits_.end());
}

void HostActs::number_operations(std::vector<ImportedQueue>& queues) {
  for (uint32_t q = 0; q < queues.size(); ++q) {
    for (const std::vector<ImportedOperation>& lane : queues[q].lanes) {
      std::vector<OperationNumber>& numbers = queues[q].numbers.emplace_back();
      for (const ImportedOperation& operation : lane) {
        numbers.push_back(OperationNumber{++numbers_});
        if (operation.correlation == 0) continue;
        // Such a copy returns when it is done, whatever its call is named.
        const bool waited_for = operation.direction == CopyDirection::from_device &&
                                operation.memory == HostMemory::pageable;
        launches_.push_back({operation.correlation, numbers.back(), operation.kind, q,
                             OperationNumber::none, waited_for});
      }
    }
  }
}

void HostActs::take_syncs(const ImportedProcess& process,
                          const std::vector<ImportedQueue>& queues) {
  if (process.syncs.empty()) return;
  const Moments moments = moments_of_calls(process);
  std::map<QueueKey, uint32_t> places;
  std::vector<std::vector<HandedOver>> handed;
  for (const ImportedQueue& queue : queues) {
    places.emplace(queue.key, static_cast<uint32_t>(handed.size()));
    handed.push_back(handed_over_to(queue, moments));
  }
  for (const ImportedSync& sync : process.syncs) {
    const auto queue = places.find(sync.queue);
    const auto recorded_on = places.find(sync.recorded_on);
    const auto recording = moments.find(sync.recorded_by);
    std::optional<OperationNumber> recorded;
    if (recording != moments.end()) {
      recorded = recorded_on == places.end()
                     ? OperationNumber::none
                     : last_before(handed[recorded_on->second], recording->second);
    }
    take_sync(sync, queue != places.end() ? queue->second : no_queue_, recorded);
  }
}

void HostActs::take_sync(const ImportedSync& sync, uint32_t queue,
                         std::optional<OperationNumber> recorded) {
  using enum ImportedSync::What;
  DeviceWait wait;
  switch (sync.what) {
    case queue_for_event:
      if (recorded.value_or(OperationNumber::none) == OperationNumber::none) return;
      launches_.push_back({sync.correlation, OperationNumber{++numbers_}, DeviceOpKind::wait, queue,
                           *recorded, false});
      return;
    case host_for_queue:
      wait.queue = queue;
      break;
    case host_for_device:
      wait.what = DeviceWaitFor::device;
      break;
    case host_for_event:
      if (!recorded) return;
      wait.what = DeviceWaitFor::operation;
      wait.operation = *recorded;
      break;
  }
  waits_.push_back({sync.correlation, wait});
}

std::span<const HostActs::Launch> HostActs::launches_of(uint64_t correlation) const {
  const auto first =
      std::partition_point(launches_.begin(), launches_.end(),
                           [&](const Launch& launch) { return launch.correlation < correlation; });
  auto last = first;
  while (last != launches_.end() && last->correlation == correlation) ++last;
  return {first, last};
}

void HostActs::play(const ImportedCall& call, Time time, EventSink& sink) const {
  const Meaning& meaning = meanings_[call.region.index()];
  if (call.number == 0 && !meaning.waits) return;
  const std::span<const Launch> launches =
      call.number != 0 ? launches_of(call.number) : std::span<const Launch>();
  for (const Launch& launch : launches) {
    DeviceLaunch event{launch.number, launch.kind, launch.queue, {}};
    if (launch.after != OperationNumber::none) event.after = {&launch.after, 1};
    sink.device_launch(time, event);
  }
  for (const Launch& launch : launches) {
    if (!launch.waited_for && !(meaning.copies && launch.kind == DeviceOpKind::copy)) continue;
    DeviceWait wait;
    wait.what = DeviceWaitFor::operation;
    wait.operation = launch.number;
    sink.device_wait(time, wait);
  }
  if (meaning.waits) sink.device_wait(time, wait_of(call, meaning));
}

/// A runtime's own record tells more than a name. But some are of another kind than the call, and
/// then the name is right.
DeviceWait HostActs::wait_of(const ImportedCall& call, const Meaning& meaning) const {
  const auto known = std::partition_point(waits_.begin(), waits_.end(), [&](const Wait& wait) {
    return wait.correlation < call.number;
  });
  const bool recorded = call.number != 0 && known != waits_.end() &&
                        known->correlation == call.number && known->wait.what == meaning.what;
  if (!recorded) {
    DeviceWait unknown;
    unknown.what = meaning.what;
    unknown.queue = kNoDeviceQueue;
    return unknown;
  }
  if (known->wait.what != DeviceWaitFor::operation ||
      known->wait.operation != OperationNumber::none) {
    return known->wait;
  }
  DeviceWait nothing;  // was handed over before the event was recorded
  nothing.queue = no_queue_;
  return nothing;
}

}  // namespace culprit::trace
