// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The calls that are known to wait, by their number. CUPTI has a record of each call that so much
// as asks whether an event has come, and programs ask a million times a second: only records of
// calls that are noted here are worth keeping.
// MT: safe, without a lock.
#pragma once

#include <cstdint>

namespace culprit::gpu::cuda {

/// Before the call begins to wait.
void note_waiting_call(uint32_t number);
/// False of a call that was not noted, or so long ago that a million calls came after it.
bool is_waiting_call(uint32_t number);

}  // namespace culprit::gpu::cuda
