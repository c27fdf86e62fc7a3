// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who waits for whom at one moment, and which of them wait for ever. A location that waits has
// needs, all of which must be met; a need is met by any one of the locations that could do it, once
// that one goes on. Whoever does not wait goes on. What never goes on by these rules is stuck: a
// deadlock where locations wait for each other in a circle, unanswered where what they need is
// in no thread's hands any more. (The model of Hilbrich et al., "MPI runtime error detection with
// MUST", 2009, and-or graphs of waiting.)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace culprit::assemble::stuck {

struct Need {
  std::vector<size_t> any_of;  ///< nodes; empty: none is left that could
  size_t whom = 0;             ///< one of them, or of those that could have
  std::string why;             ///< continues "waits ": "for a message from rank 1 with tag 7"
};

struct Node {
  bool waits = false;
  bool parked = false;      ///< it waits for work only: it does nothing until another thread gives
                            ///< it some
  std::vector<Need> needs;  ///< none: they are unknown, so it counts as going on
};

enum class Kind { deadlock, unanswered };

/// Nodes that wait for each other, directly or through others.
struct Group {
  Kind kind = Kind::unanswered;
  std::vector<size_t> circle;  ///< of a deadlock: those in circles, in their order around it
  std::vector<size_t> behind;  ///< those that are stuck because of them; all in an `unanswered`
                               ///< group
};

/// The stuck nodes in groups, deadlocks first.
std::vector<Group> find_stuck(const std::vector<Node>& nodes);

}  // namespace culprit::assemble::stuck
