// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs made up of iterations, of which all costs are known, and what windows at random places see
// of them. Waiting happens at two call paths; a part of each is caused by one culprit, the rest by
// others.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "blame/bursts/estimate.h"

namespace culprit::blame {

/// The same numbers on every machine: SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: Fast
/// splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  double uniform();
  double normal();  ///< the sum of twelve uniform ones, but for 6: mean 0, deviation 1

 private:
  uint64_t next();
  uint64_t state_;
};

struct SimulatedCourse {
  const char* name;
  double run_s = 3000;
  double window_s = 1.5;
  double slot_s = 64;  ///< one window in each
  double iteration_s = 0.2;
  double correlation = 0.5;  ///< of an iteration's waiting with that of the one before
  double variation = 0.3;    ///< of the waiting
  double growth = 0;         ///< of the waiting, over the run
  double period_s = 97;      ///< of a phase, which takes a fifth of it ...
  bool phase_known = false;  ///< ... and is a stratum of its own
  double stall_share = 0;    ///< of iterations: those in which all wait for 1 s, for others
};

inline constexpr size_t kPaths = 2;
inline constexpr size_t kPhases = 2;

struct Times {
  std::array<std::array<double, kPaths>, kPhases> waiting_s{}, caused_s{};
};

struct SimulatedRun {
  Times whole;
  std::vector<Times> windows;
  double covered = 0;

  double caused_s() const;
  double waiting_s() const;
};

SimulatedRun simulate(const SimulatedCourse& course, Random& random);

/// The estimate for a simulated run as its profile and windows allow it.
struct Estimated {
  ScaledCost caused, waiting;
  Interval cost, share;
};
Estimated estimate(const SimulatedCourse& course, const SimulatedRun& run);

}  // namespace culprit::blame
