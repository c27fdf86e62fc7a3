// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each line becomes actions on the lanes that it names; numbers of operations are given in the
// order of lines.
#include "tests/support/text/device.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace culprit::trace {

namespace {

constexpr std::pair<std::string_view, DeviceOpKind> kKinds[] = {
    {"kernel", DeviceOpKind::kernel},   {"copy", DeviceOpKind::copy},
    {"fill", DeviceOpKind::fill},       {"map", DeviceOpKind::map},
    {"migrate", DeviceOpKind::migrate}, {"wait", DeviceOpKind::wait},
    {"marker", DeviceOpKind::marker},   {"graph", DeviceOpKind::graph},
    {"host", DeviceOpKind::host},       {"other", DeviceOpKind::other},
};
constexpr std::pair<std::string_view, CopyDirection> kDirections[] = {
    {"to_device", CopyDirection::to_device},
    {"from_device", CopyDirection::from_device},
    {"within_device", CopyDirection::within_device},
};
constexpr std::pair<std::string_view, HostMemory> kMemories[] = {
    {"pageable", HostMemory::pageable},
    {"pinned", HostMemory::pinned},
    {"managed", HostMemory::managed},
};
constexpr uint32_t kMostDevices = 1024;

/// Sets `value` if the table knows the word.
template <class Table, class Value>
bool find_in(const Table& table, std::string_view word, Value& value) {
  for (const auto& [name, meaning] : table) {
    if (name != word) continue;
    value = meaning;
    return true;
  }
  return false;
}

template <class Number>
bool number_in(std::string_view word, Number& number) {
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && rest == word.data() + word.size();
}

}  // namespace

bool DeviceLines::knows(std::string_view word) {
  return word == "device" || word == "launch" || word == "let_go" || word == "device_wait";
}

std::string DeviceLines::usage(std::string_view word) {
  if (word == "device") return "device <number> <lane>...";
  if (word == "let_go") return "let_go <lane>@<time> -> <stream>@<time>";
  if (word == "device_wait") {
    return "device_wait <lane>@<time> for <stream>[@<time>], for <lane>@<time>, for device "
           "<number>, or "
           "for somebody";
  }
  return "launch <lane>@<time> -> <stream>[@<time>] [<kind>] [<direction>] [<memory>] [bytes <n>] "
         "[after <stream>@<time>,...]";
}

bool DeviceLines::take(const std::vector<std::string>& words, const FindPlace& find) {
  if (words[0] == "device") return take_device(words, find);
  if (words[0] == "launch") return take_launch(words, find);
  if (words[0] == "let_go") return take_let_go(words, find);
  return take_wait(words, find);
}

/// Queues are numbered by their streams' order in the process.
bool DeviceLines::take_device(const std::vector<std::string>& words, const FindPlace& find) {
  uint32_t number = 0;
  if (words.size() < 3 || !number_in(words[1], number) || number >= kMostDevices) return false;
  auto& devices = definitions_.devices;
  while (devices.size() <= number) {
    devices.push_back(
        {"device " + std::to_string(devices.size()), "node", std::to_string(devices.size())});
  }
  for (size_t i = 2; i < words.size(); ++i) {
    TextPlace place;
    if (!find(words[i], place)) return false;
    Location& location = definitions_.locations[place.lane];
    if (location.thread == 0) return false;
    location.name = "stream " + std::to_string(location.thread);
    location.kind = LocationKind::accelerator_stream;
    location.device = DeviceId(number);
    location.queue = location.thread;
    devices[number].node = definitions_.processes[location.process.index()].node;
  }
  return true;
}

bool DeviceLines::is_stream(const TextPlace& place) const {
  return definitions_.locations[place.lane].kind == LocationKind::accelerator_stream;
}

uint32_t DeviceLines::queue_of(const TextPlace& place) const {
  return definitions_.locations[place.lane].queue;
}

OperationNumber DeviceLines::operation_at(const TextPlace& place) {
  const std::pair<size_t, int64_t> key(place.lane, *place.at);
  const auto known = std::find(operations_.begin(), operations_.end(), key);
  const auto index = static_cast<size_t>(known - operations_.begin());
  if (known == operations_.end()) operations_.push_back(key);
  return OperationNumber{index + 1};
}

bool DeviceLines::take_launch(const std::vector<std::string>& words, const FindPlace& find) {
  Launch launch;
  if (words.size() < 4 || !find(words[1], launch.call) || !launch.call.at || words[2] != "->") {
    return false;
  }
  if (!find(words[3], launch.executed) || !is_stream(launch.executed)) return false;
  for (size_t i = 4; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    DeviceOperation& operation = launch.operation;
    if (words[i] == "bytes" && more) {
      if (!number_in(words[++i], operation.bytes)) return false;
    } else if (words[i] == "after" && more) {
      if (!take_after(words[++i], find, launch)) return false;
    } else if (!find_in(kKinds, words[i], operation.kind) &&
               !find_in(kDirections, words[i], operation.direction) &&
               !find_in(kMemories, words[i], operation.memory)) {
      return false;
    }
  }
  if (launch.executed.at) {
    launch.operation.operation = operation_at(launch.executed);
  } else {
    launch.operation.operation = not_executed(launch.call);
  }
  launches_.push_back(std::move(launch));
  return true;
}

/// The first that a call hands over is found by the call.
OperationNumber DeviceLines::not_executed(const TextPlace& call) {
  const std::pair<size_t, int64_t> key(call.lane, *call.at);
  const bool known = std::find(operations_.begin(), operations_.end(), key) != operations_.end();
  operations_.push_back(known ? std::pair<size_t, int64_t>(SIZE_MAX, 0) : key);
  return OperationNumber{operations_.size()};
}

bool DeviceLines::take_after(const std::string& list, const FindPlace& find, Launch& launch) {
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    TextPlace place;
    if (!find(word, place) || !place.at) return false;
    launch.after.push_back(operation_at(place));
  }
  return true;
}

/// An operation of its own, for which the one of the stream waits.
bool DeviceLines::take_let_go(const std::vector<std::string>& words, const FindPlace& find) {
  Launch release;
  TextPlace held;
  if (words.size() != 4 || !find(words[1], release.call) || !release.call.at || words[2] != "->" ||
      !find(words[3], held) || !held.at || !is_stream(held)) {
    return false;
  }
  release.executed.lane = held.lane;
  release.operation.kind = DeviceOpKind::release;
  operations_.emplace_back(SIZE_MAX, 0);
  release.operation.operation = OperationNumber{operations_.size()};
  const OperationNumber number = operation_at(held);
  for (Launch& launch : launches_) {
    if (launch.operation.operation != number) continue;
    launch.after.push_back(release.operation.operation);
    launches_.push_back(std::move(release));
    return true;
  }
  return false;
}

bool DeviceLines::take_wait(const std::vector<std::string>& words, const FindPlace& find) {
  Wait wait;
  if (words.size() < 4 || !find(words[1], wait.call) || !wait.call.at || words[2] != "for") {
    return false;
  }
  if (words[3] == "device") {
    uint32_t number = 0;
    if (words.size() != 5 || !number_in(words[4], number)) return false;
    if (number >= definitions_.devices.size()) return false;
    wait.device = DeviceId(number);
  } else if (words[3] == "somebody") {
    if (words.size() != 4) return false;
    wait.unnamed = true;
  } else if (words.size() != 4 || !find(words[3], wait.place) ||
             !(is_stream(wait.place) || wait.place.at)) {
    return false;
  }
  waits_.push_back(wait);
  return true;
}

void DeviceLines::add(const TextPlace& place, std::function<void(EventSink&, Time)> play) {
  events_.push_back({place.lane, *place.at, TextStep::call_begin, std::move(play)});
}

void DeviceLines::add_launch(const Launch& launch) {
  add(launch.call, [launch, queue = queue_of(launch.executed)](EventSink& sink, Time t) {
    sink.device_launch(t, {launch.operation.operation, launch.operation.kind, queue, launch.after});
  });
  if (!launch.executed.at) return;
  add(launch.executed, [operation = launch.operation](EventSink& sink, Time t) {
    sink.device_operation(t, operation);
  });
}

void DeviceLines::add_wait(const Wait& wait) {
  DeviceWait told;
  if (wait.device.valid()) {
    told.what = DeviceWaitFor::device;
    told.device = wait.device;
  } else if (wait.unnamed) {
    told.queue = kNoDeviceQueue;
  } else if (wait.place.at) {
    told.what = DeviceWaitFor::operation;
    told.operation = operation_at(wait.place);
  } else {
    told.queue = queue_of(wait.place);
  }
  add(wait.call, [told](EventSink& sink, Time t) { sink.device_wait(t, told); });
}

std::vector<TextEvent> DeviceLines::finish() {
  for (const Launch& launch : launches_) add_launch(launch);
  for (const Wait& wait : waits_) add_wait(wait);
  return std::move(events_);
}

}  // namespace culprit::trace
