// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process whose OpenMP is not observed is recorded all the same: samples are still useful, and
// the report must say why there is no more.
#pragma once

namespace culprit::collector::openmp {

/// From now on this process is recorded, and this thread has a log, however little is in it. False
/// where this is not wanted or not possible.
bool record_unobserved();

}  // namespace culprit::collector::openmp
