// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "simulated_run.h"

#include <algorithm>
#include <cmath>

namespace culprit::blame {
namespace {

constexpr double kPhasePart = 0.2;  ///< of a period
constexpr double kStall = 1;        ///< seconds

/// One iteration, and its waiting.
struct Iteration {
  double begin_s, length_s;
  size_t phase;
  std::array<double, kPaths> waiting_s, caused_s;
};

void add(Times& to, const Iteration& iteration, double part) {
  for (size_t path = 0; path < kPaths; ++path) {
    to.waiting_s[iteration.phase][path] += part * iteration.waiting_s[path];
    to.caused_s[iteration.phase][path] += part * iteration.caused_s[path];
  }
}

double sum_of(const std::array<std::array<double, kPaths>, kPhases>& times) {
  double sum = 0;
  for (const auto& of_phase : times) {
    for (double time : of_phase) sum += time;
  }
  return sum;
}

}  // namespace

uint64_t Random::next() {
  uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double Random::normal() {
  constexpr int kWords = 3;  // of four numbers of 16 bits
  double sum = 0;
  for (int i = 0; i < kWords; ++i) {
    for (uint64_t word = next(), k = 0; k < 4; ++k, word >>= 16) {
      sum += static_cast<double>(word & 0xffff);
    }
  }
  return sum / 65535 - 6;
}

double SimulatedRun::caused_s() const {
  return sum_of(whole.caused_s);
}

double SimulatedRun::waiting_s() const {
  return sum_of(whole.waiting_s);
}

SimulatedRun simulate(const SimulatedCourse& course, Random& random) {
  SimulatedRun run;
  const auto slots = static_cast<size_t>(course.run_s / course.slot_s);
  const double end_s = static_cast<double>(slots) * course.slot_s;
  std::vector<double> starts;
  for (size_t j = 0; j < slots; ++j) {
    starts.push_back(static_cast<double>(j) * course.slot_s +
                     random.uniform() * (course.slot_s - course.window_s));
  }
  run.windows.resize(slots);
  run.covered = course.window_s / course.slot_s;
  const double shift_s = random.uniform() * course.period_s;
  double mood = random.normal(), now_s = 0;
  while (now_s < end_s) {
    const bool in_phase =
        std::fmod(now_s + shift_s, course.period_s) < kPhasePart * course.period_s;
    mood = course.correlation * mood +
           std::sqrt(1 - course.correlation * course.correlation) * random.normal();
    const auto varied = [&](double x) {
      return std::exp(course.variation * x - course.variation * course.variation / 2);
    };
    const double grown = 1 + course.growth * now_s / end_s;
    const double stall_s = random.uniform() < course.stall_share ? kStall : 0;
    Iteration iteration{now_s,
                        course.iteration_s * (1 + 0.05 * course.variation * mood) + stall_s,
                        in_phase,
                        {},
                        {}};
    const double first_s = course.iteration_s * (in_phase ? 0.3 : 0.1) * varied(mood) * grown;
    const double second_s = course.iteration_s * (in_phase ? 0.05 : 0.2) * varied(random.normal());
    const auto part = [&](double mean) { return std::clamp(mean + 0.1 * random.normal(), 0., 1.); };
    iteration.caused_s = {first_s * part(0.7), second_s * part(in_phase ? 0.2 : 0.5)};
    iteration.waiting_s = {first_s, second_s + stall_s};
    add(run.whole, iteration, 1);
    const auto slot = static_cast<size_t>(now_s / course.slot_s);
    for (size_t j = slot; j < std::min(slots, slot + 2); ++j) {
      const double begin_s = std::max(now_s, starts[j]);
      const double until_s = std::min(now_s + iteration.length_s, starts[j] + course.window_s);
      if (until_s > begin_s)
        add(run.windows[j], iteration, (until_s - begin_s) / iteration.length_s);
    }
    now_s += iteration.length_s;
  }
  return run;
}

Estimated estimate(const SimulatedCourse& course, const SimulatedRun& run) {
  const size_t windows = run.windows.size();
  std::vector<Stratum> strata(1);  // the root
  const auto place = [&](size_t phase, size_t path) {
    return 1 + (course.phase_known ? phase * kPaths : 0) + path;
  };
  strata.resize(1 + kPaths * (course.phase_known ? kPhases : 1));
  std::vector<SeenCost> caused, waiting;
  for (size_t phase = 0; phase < kPhases; ++phase) {
    for (size_t path = 0; path < kPaths; ++path) {
      Stratum& stratum = strata[place(phase, path)];
      stratum.parent = 0;
      stratum.whole_s += run.whole.waiting_s[phase][path];
      stratum.seen_s.resize(windows);
      for (size_t j = 0; j < windows; ++j) {
        const double seen_s = run.windows[j].waiting_s[phase][path];
        stratum.seen_s[j] += seen_s;
        waiting.push_back({place(phase, path), j, seen_s});
        caused.push_back({place(phase, path), j, run.windows[j].caused_s[phase][path]});
      }
    }
  }
  const Strata settled(std::move(strata), windows, run.covered);
  Estimated result;
  result.caused = scale_up(settled, caused);
  result.waiting = scale_up(settled, waiting);
  result.cost = interval(settled, result.caused);
  result.share = interval_of_share(settled, result.caused, 0, result.waiting, 0);
  return result;
}

}  // namespace culprit::blame
