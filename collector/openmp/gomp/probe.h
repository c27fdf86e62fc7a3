// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Observes gcc's own OpenMP runtime, libgomp, which has no tools interface: stand-ins in front of
// its functions call the callbacks of the OMPT tool as an OMPT runtime would have done. So the
// records are the same, and the program runs on the runtime it was built for.
#pragma once

namespace culprit::collector::openmp {

/// Called once, before `observed`; `find` returns the function that the program would call without
/// us. False if libgomp cannot be observed, or this process is not to be recorded.
bool observe_libgomp(void* (*find)(const char* name));

/// The function to call for libgomp's function `name`, which is at `function`: a stand-in, or that
/// function itself. MT: any thread.
void* observed(const char* name, void* function);

}  // namespace culprit::collector::openmp
