// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a device did over time, in equal parts of the run: busy, or idle and because of what its
// hosts executed. Kept in whole nanoseconds, so that the parts are exact and do not depend on the
// order in which ranks and streams are added.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "blame/findings/findings.h"
#include "blame/profile/equal_parts.h"
#include "replay/model/run.h"
#include "replay/ranks/exchange.h"

namespace culprit::blame {

class DeviceCourse {
 public:
  static constexpr size_t kParts = 50;

  explicit DeviceCourse(const replay::Run& run) : equal_(run.begin, run.wall(), kParts) {}

  // Stretches; those of a kind do not overlap.
  void busy(Time begin, Time end);
  void kernel(Time begin, Time end);
  /// Idle, while a host that had not launched yet was at `path`; `launching`: in calls that launch.
  void late(Time begin, Time end, CallPathId path, bool launching);
  void latency(Time begin, Time end);
  void unknown(Time begin, Time end);

  void add(const DeviceCourse& other);
  void pack(replay::Packer& to) const;
  /// Adds what another rank has packed.
  void unpack(replay::Unpacker& from);

  /// Parts in which nothing happened, since no process used the device yet, are left out.
  void write(FoundDeviceId device, std::vector<FoundDeviceTime>& rows) const;

 private:
  struct Part {
    Duration busy, kernels, late, launching, latency, unknown;
  };
  using PlaceInCode = std::pair<size_t, CallPathId>;  ///< in which part it was executed

  /// Calls visit(part, duration) for each part that the stretch lies in.
  template <class Visit>
  void split(Time begin, Time end, const Visit& visit);

  EqualParts equal_;
  std::vector<Part> parts_;  ///< none as long as nothing is known
  std::map<PlaceInCode, Duration> code_;
};

}  // namespace culprit::blame
