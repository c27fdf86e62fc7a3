// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tests and sleeps may alternate. A thread that is sampled many times without either computes after
// all.
#include "assemble/stuck/trail.h"

#include <algorithm>

namespace culprit::assemble::stuck {

using trace::RawGroup;
using trace::RawKind;

void Trail::act(uint64_t ticks) {
  acted = std::max(acted, ticks);
  tests = sleeps = spins = {};
  sampled = 0;
  samples.clear();
}

void Trail::see(const RawRecord& record) {
  constexpr size_t kSamples = 64;
  constexpr unsigned kComputes = 20;
  const RawGroup group = trace::facts_of(record.kind).group;
  if (record.path() != 0) last_path = record.path();
  switch (record.kind) {
    case RawKind::sample:
      if (samples.size() == kSamples) samples.pop_front();
      samples.push_back({record.ticks, record.as<raw::sample>().path});
      // A thread that tests or sleeps again and again does hardly anything else.
      if (++sampled >= kComputes) tests = sleeps = {};
      return;
    case RawKind::mpi_tests: {
      const auto seen = record.as<raw::mpi_tests>();
      if (!tests) tests = {record.ticks, 0, 0, seen.path, seen.name};
      tests.until = std::max(record.ticks, seen.until);
      tests.count += seen.count;
      sampled = 0;
      return;
    }
    case RawKind::blocked: {
      const auto slept = record.as<raw::blocked>();
      const uint64_t begin = began_to_block(slept, record.ticks);
      if (slept.until <= begin) return act(record.ticks);  // a thread begins
      sampled = 0;
      if (!sleeps || sleeps.path != slept.path || sleeps.name != slept.name) {
        // Between tests it may sleep wherever it likes.
        if (!tests) act(begin);
        sleeps = {std::max<uint64_t>(begin, 1), 0, 0, slept.path, slept.name};
      }
      sleeps.until = std::max(record.ticks, slept.until);
      ++sleeps.count;
      return;
    }
    case RawKind::thread_awaits:
      // Once more, after its time was up.
      if (sleeps && sleeps.name == record.as<raw::thread_awaits>().name) return;
      return act(record.ticks);
    case RawKind::spin: {
      const uint64_t from = record.as<raw::spin>().from;
      const uint32_t path = samples.empty() ? 0 : samples.back().path;
      spins = {from == 0 ? 0 : std::max(from, acted + 1), record.ticks, 0, path};
      return;
    }
    case RawKind::thread_id:
      tid = static_cast<uint32_t>(record.as<raw::thread_id>().tid);
      handle = record.as<raw::thread_id>().handle;
      return;
    default:
      if (group == RawGroup::definitions || group == RawGroup::measurement) return;
      return act(record.ticks);
  }
}

uint64_t Trail::progress() const {
  if (tests || spins || sleeps) return acted;
  return samples.empty() ? acted : std::max(acted, samples.back().ticks);
}

}  // namespace culprit::assemble::stuck
