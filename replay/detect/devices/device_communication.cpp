// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of communication kernels (NCCL's, RCCL's): a kernel that has begun does nothing until the
// last of its group has begun. Which streams are a group is found in device_groups.h; and times
// must allow it: in operations in which all wait for all, no kernel may end before the last has
// begun. All other kernels (between two processes, of a root) are only counted.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "replay/detect/arrivals.h"
#include "replay/detect/detection.h"
#include "replay/detect/devices/device_groups.h"

namespace culprit::replay {

namespace {

/// Clocks of devices agree with their hosts' to a microsecond or so, on both sides.
constexpr Duration kClockSlack = Duration::from_nanos(2000);

/// The facts about one operation of all members.
struct Meeting {
  Time first_begin = Time::max(), last_begin = Time::min(), first_end = Time::max();
  LocationId last;            ///< to begin; of several, the lowest
  Time before = Time::min();  ///< when the one before that began

  Meeting& operator+=(const Meeting& other) {
    first_begin = std::min(first_begin, other.first_begin);
    first_end = std::min(first_end, other.first_end);
    before = std::max({before, other.before, std::min(last_begin, other.last_begin)});
    if (other.last_begin > last_begin || (other.last_begin == last_begin && other.last < last)) {
      last_begin = other.last_begin;
      last = other.last;
    }
    return *this;
  }
};

class CommunicationDetector {
 public:
  CommunicationDetector(const Run& run, unsigned threads, Detection& out)
      : run_(run),
        threads_(threads),
        out_(out),
        kinds_(communication_of_regions(run)),
        channels_(find_channels(run, kinds_)) {}

  void detect() {
    uint64_t left = 0;
    for (size_t c = 0; c < channels_.size(); ++c) {
      Channel& channel = channels_[c];
      if (channel.members.size() < 2 && channel.matched) continue;  // waits for no other
      std::vector<Meeting> meetings;
      if (channel.matched) meetings = meet(channel);
      channel.matched = channel.matched && possible(channel, meetings);
      if (channel.matched) find_waits(channel, meetings);
      if (channel.matched) count_arrivals(c, meetings);
      left += count_left(channel);
    }
    out_.losses.add(LossKind::device_communication_not_matched, left);
  }

 private:
  Communication kind_of(const DeviceOperation& operation) const {
    return kinds_[operation.region.index()];
  }

  template <class Visit>
  void for_each_kernel(LocationId stream, const Visit& visit) const {
    replay::for_each_kernel(run_, kinds_, stream, visit);
  }

  /// Returns the operations of all ranks' members, by number.
  std::vector<Meeting> meet(const Channel& channel) const {
    std::vector<Meeting> meetings(channel.members.front().kernels);
    for (const Member& member : channel.members) {
      if (!run_.owns(member.stream)) continue;
      for_each_kernel(member.stream, [&](const DeviceOperation& operation, uint32_t number) {
        meetings[number] +=
            Meeting{operation.begin, operation.begin, operation.end, member.stream, Time::min()};
      });
    }
    add_up(*run_.ranks, meetings);
    return meetings;
  }

  /// All ranks return the same, because the kernels' names are the same on all.
  bool possible(const Channel& channel, const std::vector<Meeting>& meetings) const {
    bool good = true;
    for (const Member& member : channel.members) {
      if (!run_.owns(member.stream)) continue;
      for_each_kernel(member.stream, [&](const DeviceOperation& operation, uint32_t number) {
        if (kind_of(operation) != Communication::all_to_all) return;
        good &= meetings[number].last_begin <= meetings[number].first_end + kClockSlack;
      });
    }
    return sum(*run_.ranks, uint64_t{!good}) == 0;
  }

  void find_waits(const Channel& channel, const std::vector<Meeting>& meetings) {
    std::vector<LocationId> streams;
    std::vector<LocationId> own;
    for (const Member& member : channel.members) {
      streams.push_back(member.stream);
      if (run_.owns(member.stream)) own.push_back(member.stream);
    }
    if (own.empty()) return;
    const SyncGroupId group = out_.group_of(streams);
    parallel_for(own.size(), threads_, [&](size_t i) {
      LocationWaits& found = out_.at(own[i]);
      for_each_kernel(own[i], [&](const DeviceOperation& operation, uint32_t number) {
        const Meeting& meeting = meetings[number];
        if (kind_of(operation) != Communication::all_to_all ||
            meeting.first_begin == meeting.last_begin) {
          return;
        }
        found.wait(pattern("dev.communication"), operation.path, operation.begin, operation.end,
                   std::min(meeting.last_begin, operation.end), meeting.last);
        found.sync(Sync::of(group, meeting.last_begin));
      });
    });
  }

  /// Counts how this rank's members come to the operations in which all wait for all.
  void count_arrivals(size_t number, const std::vector<Meeting>& meetings) {
    std::vector<ArrivalTally> rows;
    for (const Member& member : channels_[number].members) {
      if (!run_.owns(member.stream)) continue;
      std::map<RegionId, ArrivalTally> by_kernel;
      for_each_kernel(member.stream, [&](const DeviceOperation& operation, uint32_t at) {
        if (kind_of(operation) != Communication::all_to_all) return;
        ArrivalTally& row = by_kernel[operation.region];
        row.channel = static_cast<uint32_t>(number);
        row.operation = operation.region;
        row.location = member.stream;
        const Meeting& meeting = meetings[at];
        const bool is_last = meeting.last == member.stream && meeting.before < meeting.last_begin;
        add_arrival(row, {member.stream, operation.begin, operation.end}, meeting.last_begin,
                    is_last, meeting.before);
      });
      for (const auto& [kernel, row] : by_kernel) rows.push_back(row);
    }
    out_.add(std::move(rows));
  }

  /// Counts the kernels of a channel on this rank that remain unexplained.
  uint64_t count_left(const Channel& channel) const {
    uint64_t left = 0;
    for (const Member& member : channel.members) {
      if (!run_.owns(member.stream)) continue;
      for_each_kernel(member.stream, [&](const DeviceOperation& operation, uint32_t) {
        left += !channel.matched || kind_of(operation) != Communication::all_to_all;
      });
    }
    return left;
  }

  const Run& run_;
  unsigned threads_;
  Detection& out_;
  const std::vector<Communication> kinds_;  // by RegionId
  std::vector<Channel> channels_;
};

}  // namespace

void detect_device_communication(Run& run, unsigned threads, Detection& out) {
  if (run.device_idle.valid()) CommunicationDetector(run, threads, out).detect();
}

}  // namespace culprit::replay
