// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One walk over what hosts handed over, in the order of their calls. For each queue it is known
// what was handed over last, and what the queue waits for since.
#include "replay/detect/devices/device_marks.h"

#include <algorithm>
#include <queue>

namespace culprit::replay {

using trace::DeviceOpKind;
using trace::DeviceWaitFor;
using Place = OperationIndex::Place;

namespace {

/// Something without an operation of its own that is not executed, only passed.
bool may_be_passed(DeviceOpKind kind) {
  return kind == DeviceOpKind::marker || kind == DeviceOpKind::wait;
}

bool has_any(const Run& run, const DeviceProcess& process, const OperationIndex& index) {
  return std::any_of(process.hosts.begin(), process.hosts.end(), [&](LocationId host) {
    const auto& launches = run.at(host).device.launches;
    return std::any_of(launches.begin(), launches.end(), [&](const DeviceLaunch& launch) {
      return may_be_passed(launch.kind) && !index.executed(launch.operation);
    });
  });
}

}  // namespace

class MarkFinder {
 public:
  MarkFinder(const Run& run, const DeviceProcess& process, const OperationIndex& index,
             DeviceMarks& found)
      : run_(run), index_(index), found_(found) {
    for (const LocationId host : process.hosts) add_next({Time::min(), host, 0, 0});
  }

  void find() {
    while (!hosts_.empty()) {
      Host host = hosts_.top();
      hosts_.pop();
      const DeviceFacts& facts = run_.at(host.location).device;
      if (is_wait_next(facts, host)) {
        see(host.location, host.wait, facts.waits[host.wait]);
        ++host.wait;
      } else {
        see(host.location, facts.launches[host.launch]);
        ++host.launch;
      }
      add_next(host);
    }
  }

 private:
  /// A host, and which of its launches and waits come next.
  struct Host {
    Time enter;
    LocationId location;
    uint32_t launch, wait;
    bool operator>(const Host& other) const {
      return enter != other.enter ? enter > other.enter : location > other.location;
    }
  };
  struct Queue {
    std::vector<Place> last;   ///< what was handed over to it last
    std::vector<Place> waits;  ///< for what it waits since: the last of each stream
  };

  /// What a call hands over comes before its wait.
  static bool is_wait_next(const DeviceFacts& facts, const Host& host) {
    if (host.launch == facts.launches.size()) return true;
    return host.wait < facts.waits.size() &&
           facts.waits[host.wait].call < facts.launches[host.launch].call;
  }

  void add_next(Host host) {
    const DeviceFacts& facts = run_.at(host.location).device;
    if (host.launch == facts.launches.size() && host.wait == facts.waits.size()) return;
    const CallIndex call =
        is_wait_next(facts, host) ? facts.waits[host.wait].call : facts.launches[host.launch].call;
    host.enter = run_.call(host.location, call).enter;
    hosts_.push(host);
  }

  const DeviceOperation& operation(const Place& place) const {
    return run_.at(place.location).device.operations[place.index];
  }

  /// A graph whose nodes are told one by one has several operations under its number.
  Place last_part(Place place) const {
    const auto& all = run_.at(place.location).device.operations;
    while (place.index + 1 < all.size() &&
           all[place.index + 1].operation == all[place.index].operation) {
      ++place.index;
    }
    return place;
  }

  /// Of each stream only the last: its operations end in order.
  static void add(std::vector<Place>& places, const Place& one) {
    for (Place& known : places) {
      if (known.location != one.location) continue;
      known.index = std::max(known.index, one.index);
      return;
    }
    places.push_back(one);
  }

  std::pair<uint32_t, uint32_t> keep(const Queue& queue, bool with_last) {
    std::vector<Place> all = queue.waits;
    if (with_last) {
      for (const Place& place : queue.last) add(all, place);
    }
    const auto first = static_cast<uint32_t>(found_.places_.size());
    found_.places_.insert(found_.places_.end(), all.begin(), all.end());
    return {first, static_cast<uint32_t>(found_.places_.size())};
  }

  void see(LocationId host, const DeviceLaunch& launch) {
    if (launch.kind == DeviceOpKind::release || launch.queue == trace::kNoDeviceQueue) return;
    if (const auto place = index_.executed(launch.operation)) {
      queues_[launch.queue] = {{last_part(*place)}, {}};
    } else if (launch.kind == DeviceOpKind::marker) {
      const auto fresh = static_cast<uint32_t>(found_.marks_.size());
      if (found_.mark_of_.at(static_cast<uint64_t>(launch.operation), fresh) != fresh) return;
      found_.marks_.push_back(keep(queues_[launch.queue], true));
    } else if (launch.kind == DeviceOpKind::wait) {
      begin_to_wait(host, launch);
    }
  }

  void begin_to_wait(LocationId host, const DeviceLaunch& launch) {
    const auto& after = run_.at(host).device.after;
    Queue& queue = queues_[launch.queue];
    for (uint32_t a = launch.first_after; a < launch.end_after; ++a) {
      if (const auto place = index_.executed(after[a])) {
        add(queue.waits, last_part(*place));
      } else if (const auto mark = found_.of(after[a])) {
        for (const Place& other : std::vector<Place>(mark->begin(), mark->end())) {
          add(queue.waits, other);
        }
      }
    }
  }

  void see(LocationId host, uint32_t number, const DeviceWait& wait) {
    if (wait.what != DeviceWaitFor::queue) return;
    const auto queue = queues_.find(wait.queue);
    if (queue == queues_.end() || queue->second.waits.empty()) return;
    found_.held_[{host, number}] = keep(queue->second, false);
  }

  const Run& run_;
  const OperationIndex& index_;
  DeviceMarks& found_;
  std::priority_queue<Host, std::vector<Host>, std::greater<>> hosts_;
  std::map<uint32_t, Queue> queues_;
};

DeviceMarks::DeviceMarks(const Run& run, const DeviceProcess& process,
                         const OperationIndex& index) {
  if (has_any(run, process, index)) MarkFinder(run, process, index, *this).find();
}

std::optional<DeviceMarks::Places> DeviceMarks::of(trace::OperationNumber mark) const {
  const uint32_t found = mark_of_.find(static_cast<uint64_t>(mark));
  if (found == FlatMap::kNone) return std::nullopt;
  const auto [first, end] = marks_[found];
  return Places(places_).subspan(first, end - first);
}

DeviceMarks::Places DeviceMarks::held(LocationId host, uint32_t wait) const {
  const auto found = held_.find({host, wait});
  if (found == held_.end()) return {};
  const auto [first, end] = found->second;
  return Places(places_).subspan(first, end - first);
}

}  // namespace culprit::replay
