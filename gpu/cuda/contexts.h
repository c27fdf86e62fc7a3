// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Contexts, devices and streams by CUPTI's numbers. A context is on one device; a stream's number
// means something in its context only. MT: safe; no lock is held while CUPTI or the driver is
// asked.
#pragma once

#include "gpu/cuda/cupti_library.h"
#include "gpu/face.h"

namespace culprit::gpu::cuda {

/// A context was created: its device becomes known by name.
void add_context(const Cupti& cupti, CUcontext context);

/// The device with this ordinal, made known if it was not.
DeviceNumber device_number(uint32_t ordinal);
/// The device of a context that was created; by the context's CUPTI number.
DeviceNumber device_of_context(uint32_t context);

/// The queue of a context's stream; a stream without a known device is on its context's.
QueueNumber queue_of(uint32_t context, uint32_t stream);
QueueNumber queue_of(uint32_t ordinal, uint32_t context, uint32_t stream);
/// The queue for pages that move to and from a device at any time.
QueueNumber migrations_of(uint32_t ordinal);

/// Pairs the clock of all devices, which is one, with ours.
void pair_clocks(uint64_t (*device_nanoseconds)());

}  // namespace culprit::gpu::cuda
