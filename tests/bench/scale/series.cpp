// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/scale/series.h"

namespace culprit::bench {

namespace {

constexpr uint64_t kMillion = 1'000'000;

/// One thing of a shape in several sizes; the last of them only with --full.
template <class T>
std::vector<Step> sizes(Shape shape, T Shape::* what, std::initializer_list<T> values) {
  std::vector<Step> steps;
  for (const T value : values) {
    shape.*what = value;
    steps.push_back({shape});
  }
  steps.back().full = true;
  return steps;
}

Series events() {
  Series series{"events", "stencil", "events", {}};
  for (const uint64_t millions : {1, 3, 10, 30, 100, 200}) {
    series.steps.push_back({{.ranks = 8, .threads = 2}, millions * kMillion, millions > 30});
  }
  return series;
}

Series locations(const std::string& name, const std::string& pattern, uint32_t threads,
                 uint64_t events) {
  Series series{name, pattern, "locations", {}};
  for (uint32_t locations = 16; locations <= 16384; locations *= 4) {
    const Shape shape{.ranks = locations / threads, .threads = threads};
    series.steps.push_back({shape, events, locations == 16384});
  }
  return series;
}

Series pattern(const std::string& name, std::vector<Step> steps) {
  return {name, name, "events", std::move(steps)};
}

}  // namespace

std::vector<Series> all_series() {
  const auto ranks = &Shape::ranks;
  const auto iterations = &Shape::iterations;
  return {
      events(),
      locations("locations", "stencil", 2, 4 * kMillion),
      locations("locations_alltoall", "alltoall", 1, 2 * kMillion),
      pattern("tasks", sizes({.ranks = 4, .threads = 4}, iterations, {2000u, 8000u, 32'000u})),
      pattern("uneven_tasks", sizes({.ranks = 2, .threads = 2}, iterations,
                                    {20'000u, 80'000u, 320'000u, 1'280'000u})),
      pattern("uneven_visits",
              sizes({.ranks = 4}, iterations, {10'000u, 40'000u, 160'000u, 640'000u})),
      pattern("wavefront", sizes({.ranks = 64}, iterations, {1000u, 4000u, 16'000u})),
      pattern("master_worker", sizes({.iterations = 100}, ranks, {256u, 1024u, 4096u, 16'384u})),
      pattern("all_pairs", sizes({.iterations = 4}, ranks, {128u, 256u, 512u, 1024u})),
      pattern("one_interval", sizes({.ranks = 64}, iterations, {100'000u, 300'000u, 1'000'000u})),
      {"one_interval_ranks", "one_interval", "locations",
       sizes({.iterations = 100'000}, ranks, {256u, 1024u, 4096u, 16'384u})},
      pattern("many_comms", sizes({.ranks = 16}, iterations, {3000u, 10'000u, 30'000u, 100'000u})),
      pattern("deep_paths", sizes({.ranks = 8}, iterations, {100u, 300u, 1000u, 3000u})),
      pattern("open_requests", sizes({.ranks = 8}, iterations, {10'000u, 30'000u, 100'000u})),
      pattern("same_moment", sizes({.ranks = 8}, iterations, {1000u, 3000u, 10'000u})),
      pattern("one_late", sizes({.iterations = 100}, ranks, {256u, 1024u, 4096u, 16'384u})),
      pattern("many_paths", sizes({.iterations = 20}, ranks, {256u, 1024u, 4096u, 16'384u})),
      pattern("mixed_groups", sizes({.ranks = 1024}, iterations, {100u, 300u, 1000u, 3000u})),
  };
}

}  // namespace culprit::bench
