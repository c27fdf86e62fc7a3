// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/bursts/moments.h"

#include "collector/process/clock.h"

namespace culprit::collector {

namespace {

/// A rate measured over less would put bursts at other places than other processes do.
constexpr uint64_t kShortestBase_ns = 5'000'000;

double difference(uint64_t to, uint64_t from) {
  return static_cast<double>(static_cast<int64_t>(to - from));
}

}  // namespace

Moments::Moments(const trace::RawNodePage& page) {
  const trace::RawClockPair here = clock::read_pair();
  const uint64_t gone_on = here.monotonic_ns - page.begin.monotonic_ns;
  here_ticks_ = here.ticks;
  here_ns_ = page.begin.realtime_ns + gone_on;
  if (gone_on < kShortestBase_ns || here.ticks <= page.begin.ticks) return;
  ticks_per_ns_ = difference(here.ticks, page.begin.ticks) / static_cast<double>(gone_on);
}

uint64_t Moments::ns(uint64_t ticks) const {
  return here_ns_ + static_cast<uint64_t>(
                        static_cast<int64_t>(difference(ticks, here_ticks_) / ticks_per_ns_));
}

uint64_t Moments::ticks(uint64_t ns) const {
  return here_ticks_ +
         static_cast<uint64_t>(static_cast<int64_t>(difference(ns, here_ns_) * ticks_per_ns_));
}

Burst burst_in(const trace::RawNodePage& page, const Moments& moments, uint64_t slot) {
  const uint64_t begin = trace::raw_burst_begin_ns(page.schedule, slot);
  return {slot, moments.ticks(begin - page.margin_ns),
          moments.ticks(begin + load(page.length_ns) + page.margin_ns)};
}

bool is_in_burst(const trace::RawNodePage& page, const Moments& moments, uint64_t ticks) {
  bool is_inside = false;
  for_each_burst(page, moments, ticks, ticks, [&](const Burst&) { is_inside = true; });
  return is_inside;
}

}  // namespace culprit::collector
