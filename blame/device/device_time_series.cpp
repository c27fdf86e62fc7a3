// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The run is cut into equal parts, with edges rounded to nanoseconds; an interval is split at the
// edges that it crosses.
#include "blame/device/device_time_series.h"

#include <algorithm>
#include <span>

namespace culprit::blame {

template <class Visit>
void DeviceTimeSeries::split(Time begin, Time end, const Visit& visit) {
  if (end <= begin || equal_.edge(kParts) <= equal_.edge(0)) return;
  parts_.resize(kParts);
  equal_.split(begin, end, visit);
}

void DeviceTimeSeries::busy(Time begin, Time end) {
  split(begin, end, [&](size_t part, Duration time) { parts_[part].busy += time; });
}

void DeviceTimeSeries::kernel(Time begin, Time end) {
  split(begin, end, [&](size_t part, Duration time) { parts_[part].kernels += time; });
}

void DeviceTimeSeries::late(Time begin, Time end, CallPathId path, bool launching) {
  split(begin, end, [&](size_t part, Duration time) {
    parts_[part].late += time;
    if (launching) parts_[part].launching += time;
    code_[{part, path}] += time;
  });
}

void DeviceTimeSeries::latency(Time begin, Time end) {
  split(begin, end, [&](size_t part, Duration time) { parts_[part].latency += time; });
}

void DeviceTimeSeries::held(Time begin, Time end) {
  split(begin, end, [&](size_t part, Duration time) { parts_[part].held += time; });
}

void DeviceTimeSeries::unknown(Time begin, Time end) {
  split(begin, end, [&](size_t part, Duration time) { parts_[part].unknown += time; });
}

void DeviceTimeSeries::add(const DeviceTimeSeries& other) {
  if (other.parts_.empty()) return;
  parts_.resize(kParts);
  for (size_t i = 0; i < kParts; ++i) {
    parts_[i].busy += other.parts_[i].busy;
    parts_[i].kernels += other.parts_[i].kernels;
    parts_[i].late += other.parts_[i].late;
    parts_[i].launching += other.parts_[i].launching;
    parts_[i].latency += other.parts_[i].latency;
    parts_[i].held += other.parts_[i].held;
    parts_[i].unknown += other.parts_[i].unknown;
  }
  for (const auto& [place, time] : other.code_) code_[place] += time;
}

void DeviceTimeSeries::pack(Packer& to) const {
  to.put_list(std::span<const Part>(parts_));
  to.put(uint64_t{code_.size()});
  for (const auto& [place, time] : code_) {
    to.put(place.first), to.put(place.second), to.put(time);
  }
}

void DeviceTimeSeries::unpack(Unpacker& from) {
  DeviceTimeSeries other = *this;
  other.parts_ = from.get_list<Part>();
  other.code_.clear();
  for (auto left = from.get<uint64_t>(); left > 0; --left) {
    const auto part = from.get<size_t>();
    const auto path = from.get<CallPathId>();
    other.code_[{part, path}] = from.get<Duration>();
  }
  add(other);
}

void DeviceTimeSeries::write(FoundDeviceId device, std::vector<FoundDeviceTime>& rows) const {
  auto code = code_.begin();
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.busy + part.late + part.latency + part.held + part.unknown == Duration::zero())
      continue;
    FoundDeviceTime row;
    row.device = device;
    row.begin_s = (equal_.edge(i) - equal_.edge(0)).seconds();
    row.end_s = (equal_.edge(i + 1) - equal_.edge(0)).seconds();
    row.busy_s = part.busy.seconds();
    row.kernels_s = part.kernels.seconds();
    row.late_s = part.late.seconds();
    row.launching_s = part.launching.seconds();
    row.latency_s = (part.latency + part.held).seconds();
    row.unknown_s = part.unknown.seconds();
    row.launch_bound = 2 * (part.launching + part.latency).seconds() >= row.end_s - row.begin_s;
    Duration most;
    for (; code != code_.end() && code->first.first == i; ++code) {
      if (code->second <= most) continue;
      most = code->second;
      row.callpath = code->first.second;
    }
    row.callpath_s = most.seconds();
    rows.push_back(row);
  }
}

}  // namespace culprit::blame
