// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The report's words on start-up and shutdown (blame/profile/start_up.h): a separate line, and
// first only where it is most of a long run. A process's work before MPI_Init, while others wait
// for it there, is separate from both.
#pragma once

#include <string>

#include "blame/judge/causes.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// "MPI_Init_thread 0.40 s and MPI_Finalize 0.10 s": the longest on the critical path.
std::string start_up_parts(const blame::Findings& findings, const TimeFormat& time);

/// Processes that waited in MPI_Init for one that entered it late.
struct StartSkew {
  double longest_s = 0;  ///< of any of them
  double shortest_s = 0;
  double waiting_s = 0;  ///< of all
  size_t processes = 0;
  std::vector<blame::Cause> causes;  ///< what the late did more before; the costliest first
  double launch_s = 0;               ///< of the waiting: the late were started later
  double cost_s() const { return causes.empty() ? launch_s : causes.front().cost_s; }
};
StartSkew start_skew(const blame::Findings& findings);

/// Whether the sentence comes before those about all other waiting, which it does if its cause
/// costs more than the first of `others`, or after them.
enum class SkewOrder : uint8_t { first, later };

/// "Start-up: 3 processes waited in MPI_Init, 2.00 s (71.4 % of the run) at most, for read_input
/// (a.c:3) on rank 1, which comes before it."; "" if it is not worth a sentence, or its turn is
/// another one.
std::string start_skew_sentence(const blame::Findings& findings, SkewOrder turn,
                                const std::vector<blame::Cause>& others, const PageNames& names,
                                const TimeFormat& time);

/// The same in full; "" if there is nothing to say.
std::string start_skew_section(const blame::Findings& findings, const PageNames& names,
                               const TimeFormat& time);

/// "Start-up and shutdown: 0.50 s (MPI_Init 0.40 s, ...)"; "" if there was next to none.
std::string start_up_sentence(const blame::Findings& findings, const TimeFormat& time);

}  // namespace culprit::report
