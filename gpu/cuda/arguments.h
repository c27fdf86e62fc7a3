// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What calls' arguments and results say: what those ask for that ask whether something is done
// (cudaEventQuery, cudaStreamQuery), and which functions streams are to call. Events are known by
// their handles, from the calls that recorded them last; streams by CUPTI's numbers.
// MT: safe, without a lock.
#pragma once

#include "gpu/cuda/calls.h"
#include "gpu/cuda/cupti_library.h"
#include "gpu/face.h"

namespace culprit::gpu::cuda {

/// A call that records an event, as its first argument, is over.
void note_recording(const CUpti_CallbackData& call);

/// What the call, which is over, asked for.
Question question_of(const Cupti& cupti, const Call& what, const CUpti_CallbackData& call);

/// The thread calls the runtime for something else.
void other_call_begins();

/// Whether the call's result is that it is not done; an error is no such result.
bool is_too_early(const CUpti_CallbackData& call);
bool has_succeeded(const CUpti_CallbackData& call);

/// Whether the call, which is over, gave the device something to do: it had no error, nor nothing
/// to copy.
bool hands_over_for_sure(const Call& what, const CUpti_CallbackData& call);

struct HostFunction {
  QueueNumber queue = QueueNumber::none;
  uint64_t address = 0;  ///< 0: unknown
};
/// The function of the program that a stream is to call, as the call says that hands it over.
HostFunction host_function_of(const Cupti& cupti, const CUpti_CallbackData& call);

}  // namespace culprit::gpu::cuda
