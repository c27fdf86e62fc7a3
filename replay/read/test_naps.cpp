// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A nap is time of the function that takes it; where nearly all time of a call path is known
// without samples, the thread sleeps there.
#include "replay/read/test_naps.h"

#include <algorithm>
#include <vector>

#include "replay/read/helpers.h"
#include "trace/pseudo_regions.h"

namespace culprit::replay {

namespace {

bool is_polling(const Wait& wait) {
  return wait.pattern == pattern("mpi.polling");
}

/// By CallPathId.
std::vector<bool> nap_paths(const Run& run, LocationId id) {
  constexpr double kNearlyAll = 0.9;
  std::vector<Duration> times(run.callpaths.size());
  const Activities& life = run.at(id).activities;
  for (size_t i = 0; i < life.size(); ++i) {
    times[life.path(i).index()] += life.end(i) - life.begin(i);
  }
  const std::vector<bool> regions = nap_regions(run);
  const std::vector<PathSamples>& samples = run.samples[id.index()];
  std::vector<bool> naps(run.callpaths.size());
  for (size_t p = 0; p < naps.size(); ++p) {
    const RegionId number = run.callpaths[CallPathId(p)].region;
    if (!number.valid()) continue;
    const trace::Region& region = run.regions[number.index()];
    const bool is_function = region.paradigm != trace::Paradigm::mpi &&
                             trace::pseudo_of(region.name) == trace::Pseudo::none;
    const double known_s = p < samples.size() ? samples[p].observed.seconds() : 0;
    naps[p] = regions[number.index()] ||
              (is_function && known_s > 0 && known_s >= kNearlyAll * times[p].seconds());
  }
  return naps;
}

}  // namespace

void take_naps_for_tests(const Column<Wait>& waits, LocationId id, Run& run) {
  if (std::none_of(waits.begin(), waits.end(), is_polling)) return;
  const std::vector<bool> naps = nap_paths(run, id);
  Activities& life = run.at(id).activities;
  std::vector<Activities::Piece> pieces;
  size_t first = 0;
  for (const Wait& wait : waits) {
    if (!is_polling(wait)) continue;
    first = life.after(wait.begin, first);
    for (size_t i = first; i < life.size() && life.begin(i) < wait.end; ++i) {
      const CallPathId path = life.path(i);
      if (!naps[path.index()] || life.begin(i) < wait.begin) continue;
      if (life.end(i) > wait.end) pieces.push_back({wait.end, path});
      life.set_path(i, wait.path);
    }
  }
  life.split(pieces);
}

}  // namespace culprit::replay
