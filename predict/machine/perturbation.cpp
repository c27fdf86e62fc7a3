// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/machine/perturbation.h"

#include <algorithm>
#include <cmath>

namespace culprit::predict {

Perturbation from_to(const Machine& recorded, const Machine& wanted, LinkKind kind) {
  Perturbation change;
  if (recorded.noise.known() && wanted.noise.known()) {
    change.noise = {{recorded.noise.detours, -1}, {wanted.noise.detours, 1}};
  }
  const Link *before = recorded.link(kind), *after = wanted.link(kind);
  if (before != nullptr && after != nullptr) {
    change.recorded = *before;
    change.wanted = *after;
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

Duration message_time(const Perturbation& change, uint64_t bytes) {
  const std::optional<Link>& link = change.wanted ? change.wanted : change.recorded;
  if (!link) return {};
  const auto latency = static_cast<double>(message_time(*link, 0).nanos());
  const auto whole = static_cast<double>(message_time(*link, bytes).nanos());
  return Duration::from_nanos(
      std::llround(latency * change.latency_factor + (whole - latency) / change.bandwidth_factor));
}

Duration message_change(const Perturbation& change, uint64_t bytes) {
  if (!change.recorded) return {};
  return message_time(change, bytes) - message_time(*change.recorded, bytes);
}

}  // namespace culprit::predict
