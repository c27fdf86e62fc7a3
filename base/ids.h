// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Strong indices. `RegionId` and `CallPathId` are both dense 32-bit numbers, and mixing them up
// does not compile. Every id counts from 0 within one experiment; `none()` is the absent one.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace culprit {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  explicit constexpr Id(size_t index) : value_(static_cast<uint32_t>(index)) {}
  static constexpr Id none() { return Id(); }

  constexpr bool valid() const { return value_ != kNone; }
  constexpr size_t index() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t value_ = kNone;
};

/// A function, construct or MPI call: what a time line is inside of.
using RegionId = Id<struct RegionTag>;
/// A path from the root to a region, joined over locations.
using CallPathId = Id<struct CallPathTag>;
/// One strictly sequential timeline: a CPU thread or a GPU stream.
using LocationId = Id<struct LocationTag>;
/// A process with its threads and streams (OTF2: location group); for MPI programs, a world rank.
using ProcessId = Id<struct ProcessTag>;
/// A communicator, the same number on all its members.
using CommId = Id<struct CommTag>;
/// A device that executes operations submitted by hosts; it has the same number in all processes
/// that use it.
using DeviceId = Id<struct DeviceTag>;
/// A counter or any other figure that is read on the way, and a set of such that is read together.
using MetricId = Id<struct MetricTag>;
using MetricSetId = Id<struct MetricSetTag>;
/// A set of processes that is not a communicator.
using GroupId = Id<struct GroupTag>;
/// A window of one-sided communication, the same number on all members of its communicator.
using WindowId = Id<struct WindowTag>;
/// An opening of a file, the same number on all members of the communicator that opened it.
using FileId = Id<struct FileTag>;

}  // namespace culprit

template <class Tag>
struct std::hash<culprit::Id<Tag>> {
  size_t operator()(culprit::Id<Tag> id) const noexcept { return std::hash<size_t>{}(id.index()); }
};
