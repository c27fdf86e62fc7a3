// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Some functions that libomp offers to programs built for libgomp compute other results than
// libgomp's (libomp 19): loops over unsigned long long that run downwards have no iterations at
// all, tasks of taskloops downwards have too many, and taskloops without iterations may make
// endlessly many. Here they are put right, so that such programs behave on libomp as they did.
#pragma once

namespace culprit::collector::openmp {

/// The function to call for the libgomp function `name`, which libomp has at `function`: mostly
/// that one. `libomp` is its handle. MT: any thread.
void* repaired(const char* name, void* function, void* libomp);

}  // namespace culprit::collector::openmp
