// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Synthetic traces of any size, for benchmarks and tests. A pattern is a small parallel program
// whose time lines are computed: a schedule first (at most a few times per rank and iteration),
// then the events of one location after the other, so that memory holds the schedule and one
// location's buffer, and one file is open, however many locations there are.
// The same shape gives the same trace. It is plausible: nothing completes before it has begun, and
// everything has its counterpart.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "trace/definitions.h"
#include "trace/source.h"

namespace culprit::bench {

struct Shape {
  uint32_t ranks = 8;
  uint32_t threads = 2;  ///< per rank; patterns of MPI alone have one, whatever this says
  uint32_t iterations = 100;
  uint32_t seed = 1;
};

/// A pattern by name.
struct PatternKind {
  std::string_view name;
  std::string_view what;  ///< one line: what happens in it
  bool adversarial;       ///< made to be hard for an analysis
  bool hybrid;            ///< uses threads
  std::unique_ptr<class Pattern> (*make)(const Shape&);
};
/// All of them; names are unique.
std::span<const PatternKind> pattern_kinds();
/// nullptr if there is none of that name.
const PatternKind* find_pattern(std::string_view name);

/// A trace that is computed as it is read: what generate() would write.
std::unique_ptr<trace::Source> synthetic_trace(const PatternKind& kind, const Shape& shape);

/// Writes `folder`/traces.otf2; returns the number of events. Stops the program if it cannot.
uint64_t generate(const std::filesystem::path& folder, const PatternKind& kind, const Shape& shape);

/// The shape with as many iterations as come closest to this many events, at least one.
Shape with_events(const PatternKind& kind, Shape shape, uint64_t events);

}  // namespace culprit::bench
