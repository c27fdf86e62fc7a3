// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Streams are compared by their kernels' names first, then by when these end: all ranks share the
// lists of names, and the ends of one stream at a time.
#include "replay/detect/devices/device_groups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/ranks/exchange.h"

namespace culprit::replay {

namespace {

/// Members of a group end an operation within this time of one another: the last message is short.
constexpr Duration kEndTogether = Duration::from_nanos(100'000);
/// Clocks of nodes may differ by so much all the time; of few operations that cannot be seen.
constexpr Duration kClocksApart = Duration::from_nanos(10'000'000);
constexpr size_t kEnoughToSeeClocks = 8;

/// A stream executes kernels of this name.
struct Use {
  LocationId stream;
  RegionId region;
};

/// When a kernel ended on the stream that others are compared with.
struct End {
  Time time = Time::min();
  End& operator+=(const End& other) {
    time = std::max(time, other.time);
    return *this;
  }
};

class ChannelFinder {
 public:
  ChannelFinder(const Run& run, const std::vector<Communication>& kinds)
      : run_(run), kinds_(kinds) {}

  std::vector<Channel> find() {
    find_channels();
    divide_channels();
    return std::move(channels_);
  }

 private:
  template <class Visit>
  void for_each_kernel(LocationId stream, const Visit& visit) const {
    replay::for_each_kernel(run_, kinds_, stream, visit);
  }

  Member describe(LocationId stream) const {
    Member member{stream, run_.location(stream).process, device_of(*run_.definitions, stream)};
    for_each_kernel(stream, [&](const DeviceOperation& operation, uint32_t) {
      ++member.kernels;
      member.first_end = std::min(member.first_end, operation.end);
      for (const char c : run_.regions[operation.region.index()].name + '\n') {
        member.names = (member.names ^ static_cast<unsigned char>(c)) * 0x100000001b3;  // FNV-1a
      }
    });
    return member;
  }

  /// Finds the channels; the result is the same on all ranks.
  void find_channels() {
    std::vector<Member> own;
    std::vector<Use> own_uses;
    for (LocationId id : run_.locations) {
      if (!run_.is_stream(id) || run_.at(id).device.operations.empty()) continue;
      own.push_back(describe(id));
      std::set<RegionId> regions;
      for_each_kernel(id, [&](const DeviceOperation& operation, uint32_t) {
        if (regions.insert(operation.region).second) own_uses.push_back({id, operation.region});
      });
    }
    std::vector<Member> all = concatenate(*run_.ranks, own);
    std::sort(all.begin(), all.end(), is_earlier_stream);
    std::map<ProcessId, uint32_t> processes;  // only processes that use devices
    std::map<std::pair<ProcessId, DeviceKey>, size_t> places;
    std::map<std::tuple<size_t, uint32_t, uint64_t>, Channel> channels;
    for (const Member& member : all) {
      processes.emplace(member.process, 0);
      if (member.kernels == 0) continue;
      const size_t place = places[{member.process, member.device}]++;
      channels[{place, member.kernels, member.names}].members.push_back(member);
    }
    const std::vector<Use> uses = concatenate(*run_.ranks, own_uses);
    for (auto& [key, channel] : channels) {
      const bool alone = channel.members.size() < 2 && processes.size() > 1;
      channel.matched = !alone && (has_all(channel, processes) || is_exclusive(channel, uses));
      channels_.push_back(std::move(channel));
    }
  }

  /// Returns whether all processes have equally many members.
  static bool has_all(const Channel& channel, std::map<ProcessId, uint32_t> processes) {
    for (const Member& member : channel.members) ++processes[member.process];
    return std::all_of(processes.begin(), processes.end(), [&](const auto& process) {
      return process.second == processes.begin()->second;
    });
  }

  /// Returns whether no other stream executes a kernel of these names.
  static bool is_exclusive(const Channel& channel, const std::vector<Use>& uses) {
    const auto is_member = [&](LocationId stream) {
      return std::any_of(channel.members.begin(), channel.members.end(),
                         [&](const Member& member) { return member.stream == stream; });
    };
    std::set<RegionId> inside;
    for (const Use& use : uses) {
      if (is_member(use.stream)) inside.insert(use.region);
    }
    return std::none_of(uses.begin(), uses.end(), [&](const Use& use) {
      return inside.contains(use.region) && !is_member(use.stream);
    });
  }

  /// Divides channels into groups whose members end their kernels together. If none do, times tell
  /// nothing of groups. The result is the same on all ranks.
  void divide_channels() {
    std::vector<Channel> divided;
    for (Channel& channel : channels_) {
      if (!channel.matched || channel.members.size() < 4) {
        divided.push_back(std::move(channel));
        continue;
      }
      std::vector<Channel> groups;
      for (std::vector<Member> left = in_order_of_ends(channel.members); !left.empty();) {
        Channel& group = groups.emplace_back();
        group.members = take_those_that_end_with_first(left);
        std::sort(group.members.begin(), group.members.end(), is_earlier_stream);
        group.matched = group.members.size() > 1;
      }
      if (groups.size() == channel.members.size()) {
        divided.push_back(std::move(channel));
      } else {
        std::move(groups.begin(), groups.end(), std::back_inserter(divided));
      }
    }
    channels_ = std::move(divided);
  }

  /// Which streams are compared with which must not depend on their numbers.
  static std::vector<Member> in_order_of_ends(std::vector<Member> members) {
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.first_end < b.first_end; });
    return members;
  }

  static bool is_earlier_stream(const Member& a, const Member& b) { return a.stream < b.stream; }

  std::vector<Member> take_those_that_end_with_first(std::vector<Member>& left) const {
    const Member& first = left.front();
    std::vector<End> ends(first.kernels);
    if (run_.owns(first.stream)) {
      for_each_kernel(first.stream, [&](const DeviceOperation& operation, uint32_t number) {
        ends[number].time = operation.end;
      });
    }
    add_up(*run_.ranks, ends);
    std::vector<uint64_t> together(left.size());
    for (size_t m = 0; m < left.size(); ++m) {
      together[m] = m == 0 || (run_.owns(left[m].stream) && end_together(left[m].stream, ends));
    }
    add_up(*run_.ranks, together);
    std::vector<Member> taken, others;
    for (size_t m = 0; m < left.size(); ++m) {
      (together[m] != 0 ? taken : others).push_back(left[m]);
    }
    left = std::move(others);
    return taken;
  }

  /// Returns whether a stream's kernels end when those of another one do, by clocks that may
  /// differ.
  bool end_together(LocationId stream, const std::vector<End>& ends) const {
    std::vector<Duration> apart;
    for_each_kernel(stream, [&](const DeviceOperation& operation, uint32_t number) {
      if (kinds_[operation.region.index()] == Communication::all_to_all) {
        apart.push_back(operation.end - ends[number].time);
      }
    });
    if (apart.empty()) return false;
    Duration clocks = Duration::zero();
    if (apart.size() >= kEnoughToSeeClocks) {
      std::vector<Duration> sorted = apart;
      const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
      std::nth_element(sorted.begin(), middle, sorted.end());
      clocks = *middle;
    }
    return std::max(clocks, Duration::zero() - clocks) <= kClocksApart &&
           std::all_of(apart.begin(), apart.end(), [&](Duration each) {
             return std::max(each - clocks, clocks - each) <= kEndTogether;
           });
  }

  const Run& run_;
  const std::vector<Communication>& kinds_;
  std::vector<Channel> channels_;
};

}  // namespace

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

std::vector<Communication> communication_of_regions(const Run& run) {
  std::vector<Communication> kinds;
  for (const trace::Region& region : run.regions) kinds.push_back(communication_of(region.name));
  return kinds;
}

std::vector<Channel> find_channels(const Run& run, const std::vector<Communication>& kinds) {
  return ChannelFinder(run, kinds).find();
}

}  // namespace culprit::replay
