// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Excess vectors that are written out are visited one by one. For those that are shared
// (path_clock.h), the cost of a second of the late location is a step function of time: each wait
// raises it at the beginning of its interval and lowers it at the end. One walk over the location's
// life integrates it. Steps are integer multiples of 2^-60, in 128 bits: each raise is undone
// exactly, however different the waits are.
#include "blame/delay/delay_costs.h"

#include <algorithm>
#include <cmath>

#include "base/flat_map.h"
#include "blame/profile/stretches.h"

namespace culprit::blame {

namespace {

using replay::Pattern;
using replay::Wait;

/// The largest difference of clocks within one run.
constexpr Duration kClockSlack = Duration::from_nanos(1000);

__extension__ using Exact = __int128;  // GNU C++: two words

Exact exact(double factor) {
  return static_cast<Exact>(std::ldexp(factor, 60));
}
double value(Exact factor) {
  return std::ldexp(static_cast<double>(factor), -60);
}

/// From `time` on, a second costs this much more.
struct Step {
  Time time;
  Pattern pattern;
  Exact short_term, long_term, polling;
};

class DelayCosts {
 public:
  DelayCosts(const replay::Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays,
             LocationId late)
      : run_(run), graph_(graph), delays_(delays), late_(late) {}

  LocationCosts sum();

 private:
  /// Amounts to add at once, or per second, by kind of cost.
  struct Amounts {
    double short_term, long_term, polling;
  };
  void add(CallPathId path, Pattern pattern, const Amounts& seconds);
  void add_steps(const SharedExcess& shared, Pattern pattern, const Amounts& factors);
  void add_shared();
  bool is_unknown(CallPathId path) const {
    const std::vector<CallPathId>& unknown = graph_.unknown_waits[late_.index()];
    return std::binary_search(unknown.begin(), unknown.end(), path);
  }
  void add_stretch(Time begin, Time end, CallPathId path);
  void drop_rounding();

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  const DelayAnalysis& delays_;
  const LocationId late_;
  FlatMap row_of_;  // by call path and pattern
  std::vector<DelayCost> rows_;
  double launch_s_ = 0;
  PatternSums unknown_wait_s_{};
  FlatMap polling_row_of_;  // by call path
  std::vector<PollingCost> polling_;
  Column<Step> steps_;
  size_t next_step_ = 0;
  struct Height {
    Exact short_term = 0, long_term = 0, polling = 0;
  };
  std::array<Height, replay::kPatterns.size()> height_{};
};

LocationCosts DelayCosts::sum() {
  const Column<Excess>& excess = delays_.excess[late_.index()];
  const Column<CausedWait>& caused = delays_.caused[late_.index()];
  const Column<double>& polled = delays_.polling_s[late_.index()];
  const Column<SharedExcess>& shared = delays_.shared[late_.index()];
  size_t next_shared = 0;
  LocationCosts found;
  for (uint32_t place = 0; place < caused.size(); ++place) {
    const CausedWait& c = caused[place];
    const double denominator = c.denominator_s();
    const double inherited = polled.empty() ? 0 : polled[place];
    const Amounts all{c.share * waiting_s(c), c.share * c.long_s,
                      c.share * (polling_s(c) + inherited)};
    if (c.late.explained() < c.amount) {
      const double part = c.late.unexplained(c.amount);
      found.unexplained_s[static_cast<size_t>(c.pattern)] +=
          part * (all.short_term + all.long_term);
      found.unexplained_s[kPolling] += part * all.polling;
      found.unexplained_waits += c.amount - c.late.explained() > kClockSlack;
    }
    double sign = 1;
    if (next_shared < shared.size() && shared[next_shared].place == place) {
      add_steps(
          shared[next_shared++], c.pattern,
          {all.short_term / denominator, all.long_term / denominator, all.polling / denominator});
      sign = -1;
    }
    for (uint32_t e = c.first_excess; e < c.end_excess; ++e) {
      const double share = sign * excess[e].time().seconds() / denominator;
      add(excess[e].path(), c.pattern,
          {share * all.short_term, share * all.long_term, share * all.polling});
    }
  }
  if (!shared.empty()) add_shared();
  found.rows = std::move(rows_);
  found.polling = std::move(polling_);
  found.launch_s = launch_s_;
  found.unknown_wait_s = unknown_wait_s_;
  return found;
}

void DelayCosts::add(CallPathId path, Pattern pattern, const Amounts& seconds) {
  if (seconds.polling != 0) {
    const uint32_t row = polling_row_of_.at(path.index(), static_cast<uint32_t>(polling_.size()));
    if (row == polling_.size()) polling_.push_back({late_, path, 0});
    polling_[row].time_s += seconds.polling;
  }
  if (seconds.short_term == 0 && seconds.long_term == 0) return;
  if (path == run_.not_started && pattern == replay::pattern("run.start_skew")) {
    launch_s_ += seconds.short_term + seconds.long_term;
    return;
  }
  if (is_unknown(path)) {
    unknown_wait_s_[static_cast<size_t>(pattern)] += seconds.short_term + seconds.long_term;
    return;
  }
  const uint64_t key = uint64_t{path.index()} << 8 | static_cast<uint8_t>(pattern);
  const uint32_t row = row_of_.at(key, static_cast<uint32_t>(rows_.size()));
  if (row == rows_.size()) rows_.push_back({late_, path, pattern, 0, 0});
  rows_[row].short_s += seconds.short_term;
  rows_[row].long_s += seconds.long_term;
}

void DelayCosts::add_steps(const SharedExcess& shared, Pattern pattern, const Amounts& factors) {
  const Exact up_short = exact(factors.short_term), up_long = exact(factors.long_term);
  const Exact up_polling = exact(factors.polling);
  steps_.push_back({shared.begin, pattern, up_short, up_long, up_polling});
  steps_.push_back({shared.end, pattern, -up_short, -up_long, -up_polling});
}

void DelayCosts::add_shared() {
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const Step& a, const Step& b) { return a.time < b.time; });
  for_each_stretch(run_, late_, graph_.waits[late_.index()], steps_.front().time,
                   steps_.back().time,
                   [&](Time begin, Time end, CallPathId path, const Wait* wait) {
                     if (wait == nullptr) add_stretch(begin, end, path);
                   });
  drop_rounding();
}

void DelayCosts::add_stretch(Time begin, Time end, CallPathId path) {
  while (begin < end) {
    for (; next_step_ < steps_.size() && steps_[next_step_].time <= begin; ++next_step_) {
      const Step& step = steps_[next_step_];
      Height& height = height_[static_cast<size_t>(step.pattern)];
      height.short_term += step.short_term;
      height.long_term += step.long_term;
      height.polling += step.polling;
    }
    const Time until = next_step_ < steps_.size() ? std::min(end, steps_[next_step_].time) : end;
    const double seconds = (until - begin).seconds();
    for (size_t p = 0; p < height_.size(); ++p) {
      const Height& height = height_[p];
      if (height.short_term == 0 && height.long_term == 0 && height.polling == 0) continue;
      add(path, Pattern(p),
          {value(height.short_term) * seconds, value(height.long_term) * seconds,
           value(height.polling) * seconds});
    }
    begin = until;
  }
}

/// Drops rounding errors: time that waiters and the late location spent equally cancels out up to
/// the last digits.
void DelayCosts::drop_rounding() {
  constexpr double kNothing = 1e-12;  // s
  std::erase_if(rows_, [](DelayCost& row) {
    if (std::abs(row.short_s) < kNothing) row.short_s = 0;
    if (std::abs(row.long_s) < kNothing) row.long_s = 0;
    return row.short_s == 0 && row.long_s == 0;
  });
  std::erase_if(polling_, [](const PollingCost& row) { return std::abs(row.time_s) < kNothing; });
}

}  // namespace

LocationCosts sum_delay_costs(const replay::Run& run, const replay::WaitGraph& graph,
                              const DelayAnalysis& delays, LocationId late) {
  return DelayCosts(run, graph, delays, late).sum();
}

}  // namespace culprit::blame
