// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sink that turns a stream's events into its operations. Archives of culprit record each with a
// separate event. In those of other tools an operation is a visit of a region (a kernel), or a copy
// recorded as one-sided communication of the stream with its host, which has no region and gets one
// of `Copies`.
#pragma once

#include "replay/model/timeline.h"
#include "trace/definitions.h"

namespace culprit::replay {

/// Regions for copies that the archive names none for.
struct CopyRegions {
  RegionId to_device, from_device;
};

class StreamBuilder : public trace::EventSink {
 public:
  StreamBuilder(const std::vector<trace::Region>& regions, CopyRegions copies)
      : regions_(regions), copies_(copies) {}

  void enter(Time, RegionId) override;
  void leave(Time, RegionId) override;
  void device_operation(Time, const trace::DeviceOperation&) override;
  void rma_operation(Time, const trace::RmaOperation&) override;
  void rma_complete(Time, WindowId, trace::RmaOpId, trace::RmaCompletion) override;

  /// Call once, after the last event.
  Timeline take();

 private:
  void begin(Time time, RegionId region, trace::DeviceOpKind kind);
  void end(Time time);

  const std::vector<trace::Region>& regions_;
  CopyRegions copies_;
  Timeline line_;
  uint32_t depth_ = 0;    // of regions
  bool open_ = false;     // the last operation is under way
  bool copying_ = false;  // as one-sided communication
};

}  // namespace culprit::replay
