// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When devices are busy: the union of what their streams execute, of all processes that use them.
// And with it, the lives of streams: their operations, and between those where nothing can be
// executed yet, artificial paths: the stream is idle while others of its device work, or the device
// is idle, or what was launched has not begun.
#pragma once

#include <span>
#include <vector>

#include "replay/model/run.h"

namespace culprit::replay {

/// Whether the run has any, of any rank.
bool has_streams(const trace::Definitions& definitions);

/// A device by its number. In each process, streams without a recorded device share one, whose
/// number follows the others.
using DeviceKey = Id<struct DeviceKeyTag>;
DeviceKey device_of(const trace::Definitions& definitions, LocationId stream);
size_t device_count(const trace::Definitions& definitions);

/// A stretch in which a device is busy without a break.
struct DeviceBusy {
  Time begin, end;
  LocationId first, last;  ///< streams of the operations that begin and end it
};

/// Returns the busy times of all processes' streams, for devices that streams of this rank use;
/// lists of other devices are empty. Collective.
std::vector<std::vector<DeviceBusy>> devices_busy(const Run& run, unsigned threads);

/// A stream's activities from the beginning of the run to its end. `ready`: when each operation
/// could have begun; none: when it began.
void build_stream_life(Run& run, LocationId stream, std::span<const DeviceBusy> busy,
                       std::span<const Time> ready);

}  // namespace culprit::replay
