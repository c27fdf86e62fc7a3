// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is to be different when a run is executed again: the deltas of M. Sottile, V. Chandu,
// D. Bader: Performance analysis of parallel programs via message-passing graph traversal (2006),
// on local edges (noise) and on message edges (latency, bandwidth), and less noise than there was,
// which that paper leaves to later.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "predict/machine/machine.h"

namespace culprit::predict {

/// Noise that comes (factor 1; 2: detours twice as long) or that was there and goes (factor -1: all
/// of it, -0.5: half).
struct NoiseChange {
  Noise noise;
  double factor = 1;
};

/// Messages that took what they take on one machine's link, and now take what they do on another's.
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

/// From one machine to another: its noise goes and the other's comes, and messages take what they
/// take there. Links, or noise, that one of the two does not have stay as they are.
Perturbation from_to(const Machine& recorded, const Machine& wanted);

/// What is added to `compute`, recorded time of computing; not less than -compute. Noise that goes
/// is taken off by its expected share, since nobody knows which stretches held it; noise that comes
/// is sampled for the time of work that remains.
Duration sample_compute_noise(const Perturbation& change, Rng& rng, Duration compute);

/// What is added to what one message takes, because of its delay alone.
Duration sample_message_delay(const Perturbation& change, Rng& rng);

}  // namespace culprit::predict
