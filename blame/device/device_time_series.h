// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The time series of a device, in equal parts of the run: busy time, and idle time by the code of
// its hosts that caused it. Times are whole nanoseconds, so that the parts are exact and do not
// depend on the order in which ranks and streams are added.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/ranks/exchange.h"
#include "blame/findings/findings.h"
#include "blame/profile/equal_parts.h"
#include "replay/model/run.h"

namespace culprit::blame {

class DeviceTimeSeries {
 public:
  static constexpr size_t kParts = 50;

  explicit DeviceTimeSeries(const replay::Run& run) : equal_(run.begin, run.wall(), kParts) {}

  // Adds intervals; those of a kind do not overlap.
  void busy(Time begin, Time end);
  void kernel(Time begin, Time end);
  /// Adds time in which the device was idle, while a host that had not launched yet was at `path`;
  /// `launching`: the host was in launch calls.
  void late(Time begin, Time end, CallPathId path, bool launching);
  void latency(Time begin, Time end);
  /// The stream was at something that does not keep the device busy.
  void held(Time begin, Time end);
  void unknown(Time begin, Time end);

  void add(const DeviceTimeSeries& other);
  void pack(Packer& to) const;
  /// Adds the packed series of another rank.
  void unpack(Unpacker& from);

  /// Appends the rows. Parts without any time, because no process used the device yet, are left
  /// out.
  void write(FoundDeviceId device, std::vector<FoundDeviceTime>& rows) const;

 private:
  struct Part {
    Duration busy, kernels, late, launching, latency, held, unknown;
  };
  using PlaceInCode = std::pair<size_t, CallPathId>;  ///< in which part it was executed

  /// Calls visit(part, duration) for each part that the interval overlaps.
  template <class Visit>
  void split(Time begin, Time end, const Visit& visit);

  EqualParts equal_;
  std::vector<Part> parts_;  ///< none as long as nothing is known
  std::map<PlaceInCode, Duration> code_;
};

}  // namespace culprit::blame
