// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Observes gcc's own OpenMP runtime, libgomp, which tells tools nothing: stand-ins in front of its
// functions tell the callbacks of the OMPT tool what an OMPT runtime would have told them. So the
// records are the same, and the program runs on the runtime it was built for.
#pragma once

namespace culprit::collector::openmp {

/// Once, before `observed`; `find` says what the program would call without us. False if libgomp
/// cannot be observed, or this process is not to be recorded.
bool observe_libgomp(void* (*find)(const char* name));

/// What to call for libgomp's function `name`, which is at `function`: a stand-in, or just that.
/// MT: any thread.
void* observed(const char* name, void* function);

}  // namespace culprit::collector::openmp
