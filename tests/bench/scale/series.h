// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is measured: series of synthetic traces in which one thing grows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/generate/generate.h"

namespace culprit::bench {

struct Step {
  Shape shape;
  uint64_t events = 0;  ///< 0: as many as the shape has
  bool full = false;    ///< only with --full
};

struct Series {
  std::string name;
  std::string pattern;
  std::string grows;  ///< "events", or else "locations" while events stay the same
  std::vector<Step> steps;
};

std::vector<Series> all_series();

}  // namespace culprit::bench
