// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of objects (mutexes, semaphores, ...) in memory that processes share. Each process may have
// the memory elsewhere, and different memory at the same address, so the name is made of what is
// mapped there and of the place in it: the same for all processes of a node. MT: safe.
// Async-signal-safe, but for find_sharing_calls().
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions.
void find_sharing_calls();

/// The name (trace::ObjectKind::shared) of the object at this address. Its address, if the memory
/// there is this process's alone, or while nothing is watched.
uint64_t shared_object(const void* object);

}  // namespace culprit::collector::sampling
