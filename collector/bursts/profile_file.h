// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The process's profile (trace/raw/profile.h): the file, and who has which region of it. MT: any
// thread. Async-signal-safe, but for its effect on `errno`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/raw/profile.h"

namespace culprit::collector::profile_file {

/// A region of zeros in the process's profile, the file `path`; the process began at `start_ticks`.
/// nullptr if it cannot be mapped. It is never given back.
void* take(const char* path, uint64_t start_ticks, size_t bytes);

/// Whether a region was taken.
bool is_there();
/// Nothing happens before that. MT: one thread at a time.
void show(const trace::ProfileBlame& blame);

/// In a forked child that begins anew.
void forget();

}  // namespace culprit::collector::profile_file
