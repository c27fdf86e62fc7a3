// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Streams of C's library.
#pragma once

#include <stdio.h>

#include "collector/process/system_file.h"

namespace culprit::collector::sampling {

/// -1 if the stream has no descriptor, as a stream in memory: then fileno() would change errno.
inline int descriptor_of(FILE* stream) {
  const KeepErrno keep;
  return stream != nullptr ? fileno(stream) : -1;
}

}  // namespace culprit::collector::sampling
