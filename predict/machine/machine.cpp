// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What follows from a link's medians. Latency is the smallest message's, as the size of the largest
// makes the rest negligible: 1 / bandwidth = (t(largest) - t(smallest)) / (largest - smallest), by
// which Sottile et al. 2006, section 5.2, separate the two. A step is where a message takes longer
// than the two sizes before it suggest.
#include "predict/machine/machine.h"

#include <algorithm>
#include <cmath>

namespace culprit::predict {
namespace {

constexpr double kStepOfTime = 0.25;  // a smaller step may be chance

double median_of(const SizeTime& size) {
  return size.time.quantile_ns(0.5);
}

/// On the straight line through two points.
double line(double x0, double y0, double x1, double y1, double x) {
  return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y0;
}

void find_step(Link& link) {
  for (size_t i = 2; i < link.sizes.size(); ++i) {
    const SizeTime &a = link.sizes[i - 2], &b = link.sizes[i - 1], &c = link.sizes[i];
    const double slope_ends = std::max(median_of(a), median_of(b));  // never a falling line
    const double expected =
        line(static_cast<double>(a.bytes), median_of(a), static_cast<double>(b.bytes), slope_ends,
             static_cast<double>(c.bytes));
    const double more = median_of(c) - expected;
    // Most messages of this size take longer than most of that before, or it is chance.
    if (c.time.quantile_ns(0.25) < b.time.quantile_ns(0.75)) continue;
    if (more < kStepOfTime * expected || more <= static_cast<double>(link.step.nanos())) continue;
    link.step = Duration::from_nanos(std::llround(more));
    link.step_bytes = c.bytes;
  }
}

}  // namespace

Duration whole_nanos(double nanos) {
  return Duration::from_nanos(std::llround(std::min(nanos, kLongestNanos)));
}

const char* name_of(LinkKind kind) {
  return kind == LinkKind::same_node ? "same node" : "other node";
}

const Link* Machine::link(LinkKind kind) const {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const Link& each) { return each.kind == kind; });
  return found == links.end() ? nullptr : &*found;
}

void fit(Link& link) {
  link.step = {};
  link.step_bytes = 0;
  if (link.sizes.empty()) return;
  const SizeTime &first = link.sizes.front(), &last = link.sizes.back();
  link.latency = Duration::from_nanos(std::llround(median_of(first)));
  if (last.bytes > first.bytes) {
    link.ns_per_byte = std::max(0.0, median_of(last) - median_of(first)) /
                       static_cast<double>(last.bytes - first.bytes);
  }
  find_step(link);
}

Duration message_time(const Link& link, uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  const auto above =
      std::lower_bound(link.sizes.begin(), link.sizes.end(), bytes,
                       [](const SizeTime& each, uint64_t wanted) { return each.bytes < wanted; });
  double ns = 0;
  if (link.sizes.empty()) {
    ns = static_cast<double>(link.latency.nanos()) + size * link.ns_per_byte;
  } else if (above == link.sizes.end()) {
    const SizeTime& last = link.sizes.back();
    ns = median_of(last) + (size - static_cast<double>(last.bytes)) * link.ns_per_byte;
  } else if (above == link.sizes.begin()) {
    ns = median_of(*above);
  } else {
    const SizeTime& before = *(above - 1);
    ns = line(static_cast<double>(before.bytes), median_of(before),
              static_cast<double>(above->bytes), median_of(*above), size);
  }
  return whole_nanos(ns);
}

Duration message_time(const Link& link, uint64_t bytes, double latency_factor,
                      double bandwidth_factor) {
  const auto latency = static_cast<double>(message_time(link, 0).nanos());
  const auto whole = static_cast<double>(message_time(link, bytes).nanos());
  const double rest =
      std::max(0.0, whole - latency);  // medians of small messages come in any order
  return whole_nanos(std::min(whole, latency) * latency_factor + rest / bandwidth_factor);
}

}  // namespace culprit::predict
