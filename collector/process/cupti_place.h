// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// CUPTI, the tools interface of CUDA, has one place for a tool. Programs have profilers of their
// own (PyTorch's, JAX's) that take it at some moment, and whoever is refused goes on without a word
// and lacks all of the device. So the recorder leaves the place as soon as the program wants it.
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector {

/// The place is ours. `leave` is called once, on the thread that wants it, in front of the
/// program's own call of cuptiSubscribe or cuptiActivityRegisterCallbacks.
CULPRIT_EXPORT void hold_cupti_place(void (*leave)());

/// What dlsym() is to answer for CUPTI's function `name`, which it has found: the function that
/// stands before it, or `found` for all that none stands before.
void* in_front_of_cupti(const char* name, void* found);

}  // namespace culprit::collector
