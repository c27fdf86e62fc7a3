// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sentences on the ranks that hung when the run ended: the reader must know these first. Assumes
// the rows of a group stand together, those in circles first, in their order.
#pragma once

#include <string>
#include <vector>

#include "blame/findings/findings.h"
#include "report/words/names.h"

namespace culprit::report {

/// One sentence a group: "Deadlock: rank 0 waits in MPI_Recv (a.c:7) for a message from rank 1 with
/// tag 7; rank 1 waits in ...".
std::vector<std::string> stuck_sentences(const blame::Findings& findings);

/// The first group in one short sentence: "Ranks 0 to 2 hang in MPI_Barrier for rank 3, which hangs
/// in MPI_Recv for rank 0."; "" if there is none.
std::string hung_sentence(const blame::Findings& findings, const PageNames& names);

/// The part of a sentence about a member of a group.
struct StuckPart {
  std::string text;  ///< "rank 0 waits in MPI_Recv (a.c:7) for a message from rank 1"
  bool in_circle = false;
};
std::string stuck_sentence(bool deadlock, const std::vector<StuckPart>& parts);
/// The text of a part; `place`: empty if unknown.
std::string stuck_part(const std::string& who, const std::string& call, const std::string& place,
                       const std::string& why);

}  // namespace culprit::report
