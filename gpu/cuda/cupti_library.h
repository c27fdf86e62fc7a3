// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The functions of CUPTI that are used, from the library of the toolkit that the process itself
// uses: it is opened at run time, since another version would refuse, or misread, its driver.
// Records are read by structs that CUDA 12 and 13 both have; newer ones only grow at the end.
#pragma once

#include <cupti.h>

#include <string>

namespace culprit::gpu::cuda {

#define CULPRIT_CUPTI_FUNCTIONS(X)  \
  X(cuptiGetVersion)                \
  X(cuptiSubscribe)                 \
  X(cuptiUnsubscribe)               \
  X(cuptiEnableCallback)            \
  X(cuptiGetCallbackName)           \
  X(cuptiGetResultString)           \
  X(cuptiGetContextId)              \
  X(cuptiGetDeviceId)               \
  X(cuptiGetTimestamp)              \
  X(cuptiActivityRegisterCallbacks) \
  X(cuptiActivityEnable)            \
  X(cuptiActivityDisable)           \
  X(cuptiActivityFlushAll)          \
  X(cuptiActivityGetNextRecord)     \
  X(cuptiActivityGetNumDroppedRecords)

/// Functions that older libraries lack.
#define CULPRIT_CUPTI_OPTIONAL(X)               \
  X(cuptiActivityRegisterTimestampCallback)     \
  X(cuptiActivityConfigureUnifiedMemoryCounter) \
  X(cuptiGetStreamIdEx)

struct Cupti {
#define MEMBER(name) decltype(&::name) name = nullptr;
  CULPRIT_CUPTI_FUNCTIONS(MEMBER)
  CULPRIT_CUPTI_OPTIONAL(MEMBER)
#undef MEMBER
  uint32_t version = 0;

  std::string text_of(CUptiResult result) const;
  /// Whether records may have times of a clock of ours: the function is there, and this version is
  /// not one that then gives kernels no times.
  bool takes_a_clock() const;
};

/// False if no library with all required functions is found.
bool open_cupti(Cupti& cupti);

}  // namespace culprit::gpu::cuda
