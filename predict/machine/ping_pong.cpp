// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// For each size a few round trips that do not count, then those that do. The receive overhead is
// the time of a receive whose message has come: the receiver holds still for some latencies first.
#include "predict/machine/ping_pong.h"

#include <algorithm>
#include <string>

#include "base/ranks/exchange.h"

namespace culprit::predict {
namespace {

constexpr size_t kWarmUp = 20;
constexpr size_t kLeastRepeats = 20;
constexpr size_t kSmall = 4096;  // up to this size, all repeats
constexpr int kHeldLatencies = 20;

size_t repeats_of(size_t bytes, const PingPongSettings& settings) {
  const size_t fewer = bytes <= kSmall ? settings.repeats : settings.repeats * kSmall / bytes * 8;
  return std::clamp(fewer, std::min(kLeastRepeats, settings.repeats), settings.repeats);
}

/// `part` of each round trip, in nanoseconds.
template <class Part>
Distribution distribution(const std::vector<RoundTrip>& trips, const Part& part) {
  std::vector<double> samples;
  for (const RoundTrip& trip : trips) samples.push_back(part(trip));
  return Distribution::of(std::move(samples));
}

Duration median(const Distribution& of) {
  return Duration::from_nanos(static_cast<int64_t>(of.quantile_ns(0.5)));
}

/// By both of a pair.
Link measure(Transport& ranks, size_t partner, const PingPongSettings& settings) {
  const auto half = [](const RoundTrip& trip) {
    return static_cast<double>(trip.whole.nanos()) / 2;
  };
  const auto sending = [](const auto& trip) { return static_cast<double>(trip.sending.nanos()); };
  const auto receiving = [](const auto& trip) {
    return static_cast<double>(trip.receiving.nanos());
  };
  Link link;
  for (size_t bytes = 1; bytes <= settings.largest; bytes *= 2) {
    ranks.ping_pong({partner, bytes, kWarmUp, {}});
    const auto trips = ranks.ping_pong({partner, bytes, repeats_of(bytes, settings), {}});
    if (trips.empty()) continue;
    link.sizes.push_back({bytes, distribution(trips, half)});
    if (bytes == 1) link.send_overhead = median(distribution(trips, sending));
  }
  fit(link);
  const Duration hold = Duration::from_nanos(kHeldLatencies * link.latency.nanos());
  const auto held = ranks.ping_pong({partner, 1, settings.repeats, hold});
  if (!held.empty()) link.receive_overhead = median(distribution(held, receiving));
  return link;
}

}  // namespace

std::vector<Link> measure_links(Transport& ranks, const PingPongSettings& settings) {
  std::vector<std::string> nodes;
  Packer own;
  own.put(ranks.node());
  for (const Parcel& parcel : gather_everywhere(ranks, own.take())) {
    nodes.push_back(Unpacker(parcel).get_string());
  }
  std::vector<Link> links;
  for (const LinkKind kind : {LinkKind::same_node, LinkKind::other_node}) {
    size_t partner = 1;
    while (partner < nodes.size() &&
           (nodes[partner] == nodes[0]) != (kind == LinkKind::same_node)) {
      ++partner;
    }
    if (partner == nodes.size()) continue;
    if (ranks.rank() == 0 || ranks.rank() == partner) {
      Link link = measure(ranks, ranks.rank() == 0 ? partner : 0, settings);
      link.kind = kind;
      link.hosts = {nodes[0], nodes[partner]};
      if (!link.sizes.empty()) links.push_back(std::move(link));
    }
    gather_everywhere(ranks, partner);  // the others are quiet until these are done
  }
  return links;
}

}  // namespace culprit::predict
