// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the environment asks of the collector, and tells of the job. It is copied once, at load: a
// program may change its environment later, and getenv is not safe against that. Without
// CULPRIT_EXPERIMENT, or with CULPRIT_DISABLE set, nothing is wanted and the collector stays inert.
#pragma once

#include <climits>
#include <cstddef>

#include "collector/recorder/recorder.h"

namespace culprit::collector {

/// What is not to be recorded at all, because there is too much of it.
struct Without {
  bool locks = false;      ///< OpenMP's locks and critical sections
  bool tasks = false;      ///< OpenMP's explicit tasks
  bool loops = false;      ///< OpenMP's worksharing constructs
  bool tests = false;      ///< MPI's fruitless tests and probes
  bool functions = false;  ///< compiled with -finstrument-functions
  bool regions = false;    ///< that the program names; phases and iterations remain
};

struct Environment {
  bool wanted = false;
  bool monotonic_clock = false;        ///< CULPRIT_CLOCK=monotonic
  unsigned sampling_hz = 0;            ///< CULPRIT_SAMPLING_HZ; 0: none
  size_t memory_bytes = 0;             ///< CULPRIT_MEMORY, in MiB; what budget.h bounds
  size_t max_size = 0;                 ///< CULPRIT_MAX_SIZE, bytes of records; 0: no limit
  char experiment[PATH_MAX] = {};      ///< CULPRIT_EXPERIMENT, absolute
  char openmp_runtime[PATH_MAX] = {};  ///< CULPRIT_OPENMP_RUNTIME; empty: none
  bool probes_libgomp = false;         ///< CULPRIT_OPENMP_RUNTIME=libgomp: leave it, and observe it
  char counters[1024] = {};            ///< CULPRIT_COUNTERS, names joined by commas; empty: none
  char job[64] = {};                   ///< RawProcess::job
  char parent[64] = {};                ///< RawProcess::parent, as far as the environment tells
  int launcher_rank = -1;              ///< in the job, as the launcher says; -1: it does not
  int launcher_size = -1;              ///< likewise
  char window[64] = {};                ///< CULPRIT_WINDOW, as selection.h says
  char ranks[1024] = {};               ///< CULPRIT_RANKS
  char phase[256] = {};                ///< CULPRIT_PHASE
  Without without;                     ///< CULPRIT_WITHOUT
  char exclude[4096] = {};             ///< CULPRIT_EXCLUDE, patterns of names joined by commas
  bool omp_tools_disabled = false;     ///< OMP_TOOL=disabled
  bool estimate = false;  ///< CULPRIT_COUNT_ONLY: keep each thread's first windows only
};

/// Read at the first call. MT: the first call comes from the loader, before there are threads.
CULPRIT_EXPORT const Environment& environment();

}  // namespace culprit::collector
