// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether a loop that tests for a message does nothing else: what lies between its tests is alike
// each time, has no other call of MPI, and is over once the message has come. Such a loop waits,
// with a grain. If what it does between tests is done after them as well, then it is work that the
// tests interrupt, and takes what it takes: once seen, that holds for all loops of the same test.
#include <algorithm>
#include <vector>

#include "predict/rerun/dependences.h"

namespace culprit::predict {

namespace {

using replay::Activities;
using replay::Call;
using replay::Run;

constexpr size_t kFewest = 3;     ///< times between tests, that something can be said of them
constexpr double kAlike = 2;      ///< factor between the time of one and that of most
constexpr double kMost = 0.75;    ///< how many of them are alike
constexpr double kMatters = 0.1;  ///< share of the time between tests

bool is_mpi(const Run& run, CallPathId path) {
  const RegionId region = run.callpaths[path].region;
  return region.valid() && run.regions[region.index()].paradigm == trace::Paradigm::mpi;
}

size_t activity_at(const Activities& life, Time time) {
  size_t low = 0, high = life.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    life.end(middle) <= time ? low = middle + 1 : high = middle;
  }
  return low;
}

/// What was done between tests.
struct Between {
  std::vector<int64_t> pieces;                        ///< nanoseconds
  std::vector<std::pair<CallPathId, int64_t>> paths;  ///< of all of them
  int64_t total = 0;

  void add(CallPathId path, int64_t nanos) {
    const auto known =
        std::find_if(paths.begin(), paths.end(), [&](const auto& p) { return p.first == path; });
    known == paths.end() ? paths.emplace_back(path, nanos) : (known->second += nanos, *known);
    total += nanos;
  }
  bool matters(CallPathId path) const {
    return std::any_of(paths.begin(), paths.end(), [&](const auto& p) {
      return p.first == path && static_cast<double>(p.second) > kMatters * total;
    });
  }
  bool are_alike() {
    if (pieces.size() < kFewest) return false;
    const auto middle = pieces.begin() + static_cast<ptrdiff_t>(pieces.size() / 2);
    std::nth_element(pieces.begin(), middle, pieces.end());
    const auto usual = static_cast<double>(*middle);
    const auto alike = std::count_if(pieces.begin(), pieces.end(), [&](int64_t piece) {
      const auto nanos = static_cast<double>(piece);
      return nanos <= kAlike * usual && usual <= kAlike * nanos;
    });
    return static_cast<double>(alike) >= kMost * static_cast<double>(pieces.size());
  }
};

}  // namespace

PollingLoop judge_polling(const Run& run, LocationId id, Time first_test, const Call& success) {
  const Activities& life = run.at(id).activities;
  Between between;
  size_t i = activity_at(life, first_test);
  int64_t piece = 0;
  for (; i < life.size() && life.begin(i) < success.enter; ++i) {
    const CallPathId path = life.path(i);
    if (run.polls[path.index()]) {
      if (piece > 0) between.pieces.push_back(piece);
      piece = 0;
      continue;
    }
    if (is_mpi(run, path)) return PollingLoop::unclear;
    const int64_t nanos = (life.end(i) - life.begin(i)).nanos();
    piece += nanos;
    between.add(path, nanos);
  }
  if (piece > 0) between.pieces.push_back(piece);
  for (; i < life.size() && life.begin(i) < success.leave; ++i) continue;
  for (; i < life.size() && !is_mpi(run, life.path(i)); ++i) {
    if (between.matters(life.path(i))) return PollingLoop::works;
  }
  return between.are_alike() ? PollingLoop::waits : PollingLoop::unclear;
}

}  // namespace culprit::predict
