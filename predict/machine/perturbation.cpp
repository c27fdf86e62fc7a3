// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/machine/perturbation.h"

#include <algorithm>
#include <cmath>

namespace culprit::predict {

Perturbation from_to(const Machine& recorded, const Machine& wanted) {
  Perturbation change;
  if (recorded.noise.known() && wanted.noise.known()) {
    change.noise = {{recorded.noise.detours, -1}, {wanted.noise.detours, 1}};
  }
  for (const LinkKind kind : kLinkKinds) {
    const Link *before = recorded.link(kind), *after = wanted.link(kind);
    if (before == nullptr || after == nullptr) continue;
    change.links[static_cast<size_t>(kind)] = LinkChange{*before, *after};
  }
  return change;
}

Duration sample_compute_noise(const Perturbation& change, Rng& rng, Duration compute) {
  double gone = 0;
  for (const NoiseChange& each : change.noise) {
    if (each.factor < 0) gone += -each.factor * each.noise.share();
  }
  const auto nanos = static_cast<double>(compute.nanos());
  Duration change_by = Duration::from_nanos(-std::llround(nanos * std::min(gone, 1.0)));
  const Duration work = compute + change_by;
  for (const NoiseChange& each : change.noise) {
    if (each.factor <= 0) continue;
    const auto lost = static_cast<double>(sample_noise(each.noise, rng, work).nanos());
    change_by += Duration::from_nanos(std::llround(lost * each.factor));
  }
  return change_by;
}

Duration sample_message_delay(const Perturbation& change, Rng& rng) {
  return change.message_delay ? change.message_delay->sample(rng) : Duration::zero();
}

}  // namespace culprit::predict
