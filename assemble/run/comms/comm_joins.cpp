// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Ends of joins are paired where only one partner fits; what several would fit stays apart, and is
// counted.
#include "assemble/run/comms/comm_joins.h"

#include <algorithm>

namespace culprit::assemble {
namespace {

using trace::RawCommLink;

bool agree(const std::string& one, const std::string& other) {
  const auto unknown = [](const std::string& name) { return name.empty() || name == "?"; };
  return unknown(one) || unknown(other) || one == other;
}

/// The children's MPI_Init lies in the call that spawned them.
bool spawned(const JoinSide& by, const JoinSide& children) {
  return children.whole_world && agree(by.spawner, children.spawner) &&
         children.root_entered >= by.root_entered && children.last_entered <= by.first_left;
}

RawCommLink other_end(RawCommLink link) {
  switch (link) {
    case RawCommLink::spawn:
      return RawCommLink::parent;
    case RawCommLink::parent:
      return RawCommLink::spawn;
    case RawCommLink::accept:
      return RawCommLink::connect;
    case RawCommLink::connect:
      return RawCommLink::accept;
    default:
      return link;
  }
}

bool fit(const JoinSide& a, const JoinSide& b) {
  if (a.members.size() != b.remote_size || b.members.size() != a.remote_size) return false;
  if (b.link != other_end(a.link) || a.members == b.members) return false;
  if (a.key != 0 && b.key != 0 && a.key != b.key) return false;
  if (a.link == RawCommLink::spawn) return spawned(a, b);
  if (a.link == RawCommLink::parent) return spawned(b, a);
  // No process leaves before both roots have arrived.
  return a.first_left >= b.root_entered && b.first_left >= a.root_entered;
}

/// The other sides that fit each one.
std::vector<std::vector<size_t>> candidates(const std::vector<JoinSide>& sides) {
  std::vector<std::vector<size_t>> fitting(sides.size());
  for (size_t a = 0; a < sides.size(); ++a) {
    for (size_t b = a + 1; b < sides.size() && !sides[a].partner; ++b) {
      if (sides[b].partner || !fit(sides[a], sides[b])) continue;
      fitting[a].push_back(b);
      fitting[b].push_back(a);
    }
  }
  return fitting;
}

}  // namespace

bool pair_sides(std::vector<JoinSide>& sides) {
  auto fitting = candidates(sides);
  bool found = false;
  for (bool again = true; again;) {
    again = false;
    for (size_t a = 0; a < sides.size(); ++a) {
      if (sides[a].partner || fitting[a].size() != 1) continue;
      const size_t b = fitting[a].front();
      // Two that can only have the same partner contradict each other.
      const bool disputed = std::any_of(fitting[b].begin(), fitting[b].end(), [&](size_t other) {
        return other != a && fitting[other].size() == 1;
      });
      if (disputed) continue;
      sides[a].partner = b;
      sides[b].partner = a;
      for (const size_t other : fitting[b]) std::erase(fitting[other], b);
      fitting[a].clear();
      fitting[b].clear();
      found = again = true;
    }
  }
  return found;
}

bool is_ambiguous(const std::vector<JoinSide>& sides, size_t side) {
  if (sides[side].partner) return false;
  return std::any_of(sides.begin(), sides.end(), [&](const JoinSide& other) {
    return !other.partner && fit(sides[side], other);
  });
}

}  // namespace culprit::assemble
