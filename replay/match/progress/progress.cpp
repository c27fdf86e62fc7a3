// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Most operations leave a mark in a class's counts and nothing else. Thresholds are at the top.
#include "replay/match/progress/progress.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/ranks/exchange.h"
#include "replay/match/progress/usual_time.h"

namespace culprit::replay {

namespace {

/// At most this part of the operations with silences may have ended within them, ...
constexpr double kMostFreed = 0.1;
/// ... unless others were held by silences this many times as long as what followed: which of two
/// requests came first decides whether a message is taken at once, and the clocks do not tell.
constexpr double kPlainlyLonger = 20;
/// With at least this many operations it is clear whether the end follows the return at a constant
/// distance.
constexpr size_t kEnough = 5;
/// Silences vary if their median deviation is more than this part of their median, ...
constexpr double kVaries = 0.1;
/// ... and what follows the return must vary by no more than this part of what follows the begin.
constexpr double kSteadier = 0.5;
/// Where silences do not vary, they must be this many times as long as the time after them, ...
constexpr int64_t kMuchLonger = 4;
/// ... or operations must last this many times as long as on a slow machine, most of it a silence.
constexpr int64_t kBeyondSlow = 3;
/// For a single operation, a silence of this many times the usual time is suspect.
constexpr int64_t kSuspect = 20;

/// An operation that ends this soon after the other side began its part was complete at once: the
/// notification takes that long.
constexpr Duration kAtOnce = Duration::from_nanos(20'000);

/// Nanoseconds of a byte: 1 GB/s on a node, 0.1 GB/s between nodes.
constexpr double kNearByte = 1, kFarByte = 10;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double lower_quartile(std::vector<double>& values) {
  const auto place = values.begin() + static_cast<ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Judges operations whose silences do not vary. `slow`: the time of an operation on a slow
/// machine.
Need is_held(double silence, double after, double slow) {
  const bool much_longer = silence >= static_cast<double>(kMuchLonger) * after;
  const bool beyond_slow =
      silence >= after && silence + after >= static_cast<double>(kBeyondSlow) * slow;
  return much_longer || beyond_slow ? Need::progress : Need::none;
}

/// Judges those that were held where many others of the class were not.
Need judge_mixed(const std::vector<HeldUp>& held, Duration tau) {
  std::vector<double> silence, after;
  for (const HeldUp& one : held) {
    silence.push_back(one.silence.seconds());
    after.push_back(one.after.seconds());
  }
  const double middle = median(silence);
  const bool plainly = middle >= kPlainlyLonger * median(after) &&
                       middle >= static_cast<double>(kSuspect) * tau.seconds();
  if (!plainly) return Need::none;
  return held.size() == 1 ? Need::suspected : Need::progress;
}

/// Median of the deviations from the median.
double deviation(std::vector<double> values) {
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  return median(values);
}

}  // namespace

ProgressClass progress_class(RegionId operation, Helper helper, bool far, uint64_t bytes) {
  return {operation, helper, far, static_cast<uint8_t>(std::bit_width(bytes)), 2, {}, {}};
}

// --- amounts of time ----------------------------------------------------------------------------

/// Four steps an octave: the highest bit and the two below it.
uint8_t TimeCounts::step_of(Duration time) {
  const auto nanos = static_cast<uint64_t>(std::max<int64_t>(time.nanos(), 0));
  const auto bits = static_cast<unsigned>(std::bit_width(nanos));
  if (bits < 3) return static_cast<uint8_t>(nanos);
  return static_cast<uint8_t>(4 * (bits - 2) + (nanos >> (bits - 3) & 3));
}

Duration TimeCounts::from(uint8_t step) {
  if (step < 4) return Duration::from_nanos(step);
  return Duration::from_nanos(static_cast<int64_t>(uint64_t{4} + step % 4) << (step / 4 - 1));
}

void TimeCounts::add(Duration time, uint64_t count) {
  counts_[step_of(time)] += count;
}

void TimeCounts::add(const TimeCounts& other) {
  for (const auto& [step, count] : other.counts_) counts_[step] += count;
}

Duration TimeCounts::lower_quartile() const {
  uint64_t all = 0, seen = 0;
  for (const auto& [step, count] : counts_) all += count;
  for (const auto& [step, count] : counts_) {
    seen += count;
    if (4 * seen >= all) return from(static_cast<uint8_t>(step + 1));
  }
  return Duration::zero();
}

uint64_t TimeCounts::at_least(Duration time) const {
  uint64_t sum = 0;
  for (auto it = counts_.lower_bound(step_of(time)); it != counts_.end(); ++it) sum += it->second;
  return sum;
}

// --- evidence -----------------------------------------------------------------------------------

void Evidence::add(const Evidence& other) {
  alone.add(other.alone);
  freed.add(other.freed);
  most_bytes = std::max(most_bytes, other.most_bytes);
}

/// Neighbours are mostly of one class.
Evidence& ProgressEvidence::of(const ProgressClass& kind) {
  if (latest_ == nullptr || latest_->first != kind) {
    latest_ = &*classes_.try_emplace(kind).first;
  }
  return latest_->second;
}

bool ProgressEvidence::add(const Assisted& operation, const Silences& silences) {
  const Time leave = operation.call.leave, since = operation.since();
  const Silence* last = silences.last_before(operation.who, std::min(leave, operation.until));
  const bool at_once = leave < operation.from + kAtOnce;  // no silence can have held it up
  if (at_once || last == nullptr || last->end < std::max(last->begin, since) + kShortestSilence) {
    add_alone(operation);
    return false;
  }
  Evidence& all = of(operation.kind.of_all());
  all.most_bytes = std::max<uint64_t>(all.most_bytes, operation.bytes);
  if (last->end <= leave) return true;
  if (last->begin <= since) {
    of(operation.kind).freed.add(last->end - std::max(since, operation.waits_from()));
    return false;
  }
  const bool first = last == silences.of(operation.who).data();
  return !first && (last - 1)->end > since;
}

void ProgressEvidence::add_alone(const Assisted& operation) {
  Evidence& all = of(operation.kind.of_all());
  all.most_bytes = std::max<uint64_t>(all.most_bytes, operation.bytes);
  all.alone.add(operation.call.leave - std::max(operation.begun, operation.waits_from()));
}

void ProgressEvidence::add(const ProgressEvidence& other) {
  for (const auto& [kind, evidence] : other.classes_) classes_[kind].add(evidence);
}

void ProgressEvidence::share(Transport& ranks) {
  if (ranks.alone()) return;
  Packer packer;
  const auto put = [&](const TimeCounts& counts) {
    std::vector<std::pair<Duration, uint64_t>> list;
    counts.for_each([&](Duration time, uint64_t count) { list.emplace_back(time, count); });
    packer.put(uint64_t{list.size()});
    for (const auto& [time, count] : list) packer.put(time), packer.put(count);
  };
  for (const auto& [kind, evidence] : classes_) {
    packer.put(kind);
    packer.put(evidence.most_bytes);
    put(evidence.alone);
    put(evidence.freed);
  }
  classes_.clear();
  latest_ = nullptr;
  for (const Parcel& parcel : gather_everywhere(ranks, packer.take())) {
    for (Unpacker all(parcel); !all.done();) {
      Evidence& to = classes_[all.get<ProgressClass>()];
      to.most_bytes = std::max(to.most_bytes, all.get<uint64_t>());
      for (TimeCounts* counts : {&to.alone, &to.freed}) {
        for (auto left = all.get<uint64_t>(); left > 0; --left) {
          const auto time = all.get<Duration>();
          counts->add(time, all.get<uint64_t>());
        }
      }
    }
  }
}

// --- the definition -----------------------------------------------------------------------------

const Evidence* ProgressEvidence::find(const ProgressClass& kind) const {
  const auto found = classes_.find(kind);
  return found == classes_.end() ? nullptr : &found->second;
}

uint64_t ProgressEvidence::freed(const ProgressClass& kind, Duration silence) const {
  const Evidence* evidence = find(kind);
  return evidence == nullptr ? 0 : evidence->freed.at_least(silence);
}

Duration ProgressEvidence::slow_time(const ProgressClass& kind) const {
  const Evidence* evidence = find(kind.of_all());
  const double bytes = evidence == nullptr ? 0 : static_cast<double>(evidence->most_bytes);
  const double nanos = slow_nanos(kind.members, bytes, kind.far ? kFarByte : kNearByte);
  return Duration::from_nanos(static_cast<int64_t>(nanos));
}

Duration ProgressEvidence::usual_time(const ProgressClass& kind) const {
  const Evidence* evidence = find(kind.of_all());
  const auto most = static_cast<double>(slow_time(kind).nanos());
  const Duration known = evidence == nullptr ? Duration::zero() : evidence->alone.lower_quartile();
  const bool is_known = known != Duration::zero();
  const std::optional<double> quartile =
      is_known ? std::optional(static_cast<double>(known.nanos())) : std::nullopt;
  return Duration::from_nanos(static_cast<int64_t>(usual_nanos(quartile, most)));
}

const Silence* last_return(const Assisted& operation, Time since, Duration tau,
                           const Silences& silences) {
  const Time leave = operation.call.leave, from = std::max(since, operation.since());
  const Silence* first = silences.of(operation.who).data();
  const Silence* at = silences.last_before(operation.who, std::min(leave, operation.until));
  if (at == nullptr) return nullptr;
  for (;; --at) {
    if (at->end <= from) return nullptr;
    if (at->end <= leave && at->end - std::max(at->begin, from) >= tau + tau) return at;
    if (at == first) return nullptr;
  }
}

bool silent_at_end(const Assisted& operation, Time since, Duration tau, const Silences& silences) {
  const Time leave = operation.call.leave, from = std::max(since, operation.since());
  const Silence* at = silences.last_before(operation.who, std::min(leave, operation.until));
  return at != nullptr && at->end > leave && leave - std::max(at->begin, from) >= tau + tau;
}

Need judge_need(const std::vector<HeldUp>& held, uint64_t freed, Duration tau, Duration slow) {
  if (held.empty()) return Need::none;
  const auto all = static_cast<double>(held.size() + freed);
  if (static_cast<double>(freed) > kMostFreed * all) return judge_mixed(held, tau);
  if (held.size() == 1) {
    const bool long_one = held[0].silence.nanos() >= kSuspect * tau.nanos() &&
                          held[0].silence.nanos() >= kMuchLonger * held[0].after.nanos();
    return long_one ? Need::suspected : Need::none;
  }
  std::vector<double> silence, after, whole;
  for (const HeldUp& one : held) {
    silence.push_back(one.silence.seconds());
    after.push_back(one.after.seconds());
    whole.push_back(one.whole.seconds());
  }
  if (held.size() < kEnough) {
    return is_held(sum(silence), sum(after), slow.seconds() * static_cast<double>(held.size()));
  }
  if (const double spread = deviation(silence); spread > kVaries * median(silence)) {
    return deviation(after) <= kSteadier * deviation(whole) ? Need::progress : Need::none;
  }
  // The lower quartile, because some operations take longer for want of a core.
  return is_held(median(silence), lower_quartile(after), slow.seconds());
}

}  // namespace culprit::replay
