// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the region of a call path is. That begins with its model: a function of the program's own
// may be called like a call of MPI, or like a construct of OpenMP.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "trace/mpi_calls.h"

namespace culprit::blame {

/// For call paths of which nothing but names is known, as in files of other tools.
void set_model_by_name(FoundCallPath& path);

/// Whether it belongs to the programming model.
inline bool is_of(const FoundCallPath& path, trace::Paradigm model) {
  return path.model == trace::to_string(model);
}
/// Of a runtime of devices: CUDA, OpenCL.
bool is_of_device(const FoundCallPath& path);

/// Null if it is no call of MPI that is known.
inline const trace::MpiCall* mpi_call(const FoundCallPath& path) {
  return is_of(path, trace::Paradigm::mpi) ? trace::mpi_call(path.region) : nullptr;
}

/// A parallel region of OpenMP, combined with a loop or not.
bool is_parallel(const FoundCallPath& path);
/// A barrier of a team, be it at the end of a construct.
bool is_team_barrier(const FoundCallPath& path);
bool is_task_wait(const FoundCallPath& path);
/// For each call path the outermost parallel region that it lies in; none: it lies in none.
std::vector<CallPathId> outermost_regions(const Findings& findings);

}  // namespace culprit::blame
