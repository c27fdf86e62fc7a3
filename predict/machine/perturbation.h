// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The changes with which a run is executed again: the deltas of M. Sottile, V. Chandu, D. Bader:
// Performance analysis of parallel programs via message-passing graph traversal (2006), on local
// edges (noise) and on message edges (latency, bandwidth), and less noise than there was, which
// that paper leaves to later.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "predict/machine/machine.h"

namespace culprit::predict {

/// Noise that is added (factor 1; 2: detours twice as long) or removed (factor -1: all of the
/// recorded noise, -0.5: half).
struct NoiseChange {
  Noise noise;
  double factor = 1;
};

/// A change of message times from those of one machine's link to those of another's.
struct LinkChange {
  Link recorded, wanted;
};

struct Perturbation {
  std::vector<NoiseChange> noise = {};
  std::optional<Distribution> message_delay = {};  ///< on top of what each message takes
  std::array<std::optional<LinkChange>, kLinkKinds.size()> links = {};  ///< by LinkKind

  bool moved = false;  ///< to another machine, whatever is known of it

  bool changes_compute() const { return !noise.empty(); }
  const std::optional<LinkChange>& link(LinkKind kind) const {
    return links[static_cast<size_t>(kind)];
  }
  bool changes_links() const { return link(LinkKind::same_node) || link(LinkKind::other_node); }
};

/// Moves a run from one machine to another: noise and message times become those of the other.
/// Links, or noise, that one of the two lacks stay as they are.
Perturbation from_to(const Machine& recorded, const Machine& wanted);

/// Returns the time to add to `compute`, a recorded time of computing; not less than -compute.
/// Removed noise is subtracted by its expected share, since it is unknown which intervals held it;
/// added noise is sampled for the remaining time of work.
Duration sample_compute_noise(const Perturbation& change, Rng& rng, Duration compute);

/// Returns the time to add to one message, because of the added delay only.
Duration sample_message_delay(const Perturbation& change, Rng& rng);

}  // namespace culprit::predict
