// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The verdict's words on waits for progress: which code computed instead of calling MPI, and what
// helps.
#pragma once

#include <string>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

struct Progress {
  std::string text;      ///< "" if it is not worth a sentence
  std::string what;      ///< "long_kernel (a.c:5) on rank 0, which calls no MPI"; "" if unknown
  CallPathId callpath;   ///< of what computed
  bool is_most = false;  ///< of all waiting
};

/// "60 % waits for progress while long_kernel (a.c:5) on rank 0 calls no MPI; try MPI_Test in it, a
/// progress thread, or smaller pieces: 1.2 s (45 %) shorter."
Progress progress_verdict(const blame::Findings& findings, const PageNames& names,
                          const TimeFormat& time);

}  // namespace culprit::report
