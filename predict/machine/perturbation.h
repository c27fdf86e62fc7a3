// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is to be different when a run is executed again: the deltas of M. Sottile, V. Chandu,
// D. Bader: Performance analysis of parallel programs via message-passing graph traversal (2006),
// on local edges (noise) and on message edges (latency, bandwidth), and less noise than there was,
// which that paper leaves to later.
#pragma once

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

struct Perturbation {
  std::vector<NoiseChange> noise = {};
  std::optional<Distribution> message_delay = {};  ///< on top of what each message takes
  /// Where messages are to take what they take there; the recorded machine's link says what they
  /// took. Both or none.
  std::optional<Link> recorded = {}, wanted = {};
  double latency_factor = 1, bandwidth_factor = 1;  ///< of `wanted`, or else of what was recorded

  bool changes_compute() const { return !noise.empty(); }
  bool changes_messages() const {
    return message_delay || wanted || latency_factor != 1 || bandwidth_factor != 1;
  }
};

/// From one machine to another: its noise goes and the other's comes, and messages take what they
/// take there. `kind`: of the link that counts. Links, or noise, that one of the two does not have
/// stay as they are.
Perturbation from_to(const Machine& recorded, const Machine& wanted, LinkKind kind);

/// What is added to `compute`, recorded time of computing; not less than -compute. Noise that goes
/// is taken off by its expected share, since nobody knows which stretches held it; noise that comes
/// is sampled for the time of work that remains.
Duration sample_compute_noise(const Perturbation& change, Rng& rng, Duration compute);

/// What is added to what one message takes, because of its delay alone.
Duration sample_message_delay(const Perturbation& change, Rng& rng);

/// What a message of this size takes after the change, but for its delay: of `wanted`, else of
/// `recorded`, with latency (what a message of no size takes) and the rest scaled. Zero if there
/// is neither.
Duration message_time(const Perturbation& change, uint64_t bytes);

/// By how much longer (or, negative, shorter) a message of this size takes than where it was
/// recorded, but for its delay. Zero if `recorded` is not known.
Duration message_change(const Perturbation& change, uint64_t bytes);

}  // namespace culprit::predict
