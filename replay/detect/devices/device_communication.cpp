// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of communication kernels (NCCL's, RCCL's): a kernel that has begun does nothing until the
// last of its group has begun. Traces do not record which kernels belong together. They are taken
// for one group if all processes with devices execute the same ones in the same order, and if the
// times allow it: in operations in which all wait for all, no kernel may end before the last has
// begun. All other kernels (between two processes, of a root, of groups of some processes) are only
// counted.
#include <algorithm>
#include <iterator>
#include <map>

#include "base/parallel.h"
#include "replay/detect/detection.h"
#include "replay/read/device_busy.h"

namespace culprit::replay {

namespace {

/// Clocks of devices agree with their hosts' to a microsecond or so, on both sides.
constexpr Duration kClockSlack = Duration::from_nanos(2000);

enum class Communication : uint8_t { none, all_to_all, other };

Communication communication_of(std::string_view kernel) {
  constexpr std::string_view kLibraries[] = {"ncclDevKernel", "ncclKernel", "rccl", "mscclKernel"};
  const auto has = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
  if (std::none_of(std::begin(kLibraries), std::end(kLibraries),
                   [&](std::string_view library) { return kernel.starts_with(library); })) {
    return Communication::none;
  }
  return has("AllReduce") || has("AllGather") || has("ReduceScatter") ? Communication::all_to_all
                                                                      : Communication::other;
}

/// A stream that executes communication kernels, as all ranks see it.
struct Member {
  LocationId stream;
  ProcessId process;
  DeviceKey device;
  uint32_t kernels = 0;
  uint64_t names = 0;  ///< of the kernels in their order, as one number
};

/// Streams that may communicate with one another: one for each device that a process uses. Where a
/// device has several such streams, those with the same index.
struct Channel {
  std::vector<Member> members;  ///< by stream
  bool matched = false;
};

/// The facts about one operation of all members.
struct Meeting {
  Time first_begin = Time::max(), last_begin = Time::min(), first_end = Time::max();
  LocationId last;  ///< to begin; of several, the lowest

  Meeting& operator+=(const Meeting& other) {
    first_begin = std::min(first_begin, other.first_begin);
    first_end = std::min(first_end, other.first_end);
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
      : run_(run), threads_(threads), out_(out) {
    for (const trace::Region& region : run.regions) kinds_.push_back(communication_of(region.name));
  }

  void detect() {
    find_channels();
    uint64_t left = 0;
    for (size_t c = 0; c < channels_.size(); ++c) {
      Channel& channel = channels_[c];
      if (channel.members.size() < 2) continue;  // a single member waits for no other
      std::vector<Meeting> meetings;
      if (channel.matched) meetings = meet(channel);
      channel.matched = channel.matched && possible(channel, meetings);
      if (channel.matched) find_waits(channel, meetings);
      left += count_left(channel);
    }
    out_.losses.add(LossKind::device_communication_not_matched, left);
  }

 private:
  Communication kind_of(const DeviceOperation& operation) const {
    return kinds_[operation.region.index()];
  }

  /// Visits a stream's communication kernels: visit(operation, its number among them).
  template <class Visit>
  void for_each_kernel(LocationId stream, const Visit& visit) const {
    uint32_t number = 0;
    for (const DeviceOperation& operation : run_.at(stream).device.operations) {
      if (kind_of(operation) != Communication::none) visit(operation, number++);
    }
  }

  Member describe(LocationId stream) const {
    Member member{stream, run_.location(stream).process, device_of(*run_.definitions, stream)};
    for_each_kernel(stream, [&](const DeviceOperation& operation, uint32_t) {
      ++member.kernels;
      for (const char c : run_.regions[operation.region.index()].name + '\n') {
        member.names = (member.names ^ static_cast<unsigned char>(c)) * 0x100000001b3;  // FNV-1a
      }
    });
    return member;
  }

  /// Finds the channels; the result is the same on all ranks.
  void find_channels() {
    std::vector<Member> own;
    for (LocationId id : run_.locations) {
      if (run_.is_stream(id) && !run_.at(id).device.operations.empty()) own.push_back(describe(id));
    }
    std::vector<Member> all = concatenate(*run_.ranks, own);
    std::sort(all.begin(), all.end(),
              [](const Member& a, const Member& b) { return a.stream < b.stream; });
    std::map<ProcessId, uint32_t> processes;  // only processes that use devices
    std::map<std::pair<ProcessId, DeviceKey>, size_t> places;
    for (const Member& member : all) {
      processes.emplace(member.process, 0);
      if (member.kernels == 0) continue;
      const size_t place = places[{member.process, member.device}]++;
      if (place == channels_.size()) channels_.emplace_back();
      channels_[place].members.push_back(member);
    }
    for (Channel& channel : channels_) channel.matched = alike(channel, processes);
  }

  /// Returns whether all processes have equally many members that execute the same kernels.
  static bool alike(const Channel& channel, std::map<ProcessId, uint32_t> processes) {
    const Member& first = channel.members.front();
    for (const Member& member : channel.members) {
      if (member.kernels != first.kernels || member.names != first.names) return false;
      ++processes[member.process];
    }
    return std::all_of(processes.begin(), processes.end(), [&](const auto& process) {
      return process.second == processes.begin()->second;
    });
  }

  /// Returns the operations of all ranks' members, by number.
  std::vector<Meeting> meet(const Channel& channel) const {
    std::vector<Meeting> meetings(channel.members.front().kernels);
    for (const Member& member : channel.members) {
      if (!run_.owns(member.stream)) continue;
      for_each_kernel(member.stream, [&](const DeviceOperation& operation, uint32_t number) {
        meetings[number] += Meeting{operation.begin, operation.begin, operation.end, member.stream};
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
  std::vector<Communication> kinds_;  // by RegionId
  std::vector<Channel> channels_;
};

}  // namespace

void detect_device_communication(Run& run, unsigned threads, Detection& out) {
  if (run.device_idle.valid()) CommunicationDetector(run, threads, out).detect();
}

}  // namespace culprit::replay
