// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A stretch's kind is what stands at both its ends, with the magnitude of its length; samples are
// pooled by kind, and blended with those of the stretch itself and of stretches that are less
// alike.
#include "assemble/play/folding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/ranks/fields.h"

namespace culprit::assemble {
namespace {

/// Kinds without samples that last less than this part of all stretches are left to their caller.
constexpr double kNegligible = 1e-4;
/// A stretch shorter than this goes to one function as a whole; which, takes turns.
constexpr int64_t kShortNs = 20'000;
constexpr size_t kMostParts = 8;
constexpr double kLeastShare = 0.005;
/// Samples of a coarser pool that count beside those of a finer one: where the finer one is clearly
/// different, and where what differs may be chance.
constexpr double kPriorIfDifferent = 2;
constexpr double kPriorIfAlike = 50;
/// A finer pool needs as many samples to count as different from the coarser one.
constexpr double kFewestToDiffer = 5;
/// Below, too few samples came by chance as well.
constexpr double kFewestExpected = 8;
constexpr double kSigmas = 3;
/// Of the time in which a thread seems to have slept, if it did.
constexpr double kMostly = 0.5;

uint64_t hash_of(std::span<const RegionId> frames) {
  uint64_t hash = frames.size() + 1;
  for (const RegionId region : frames) hash = with(hash, region.index());
  return hash;
}

uint32_t length_class(Duration length) {
  return static_cast<uint32_t>(
      std::bit_width(static_cast<uint64_t>(std::max<int64_t>(length.nanos(), 0))));
}

template <class Map, class Key>
const Pool* find(const Map& pools, const Key& key) {
  const auto found = pools.find(key);
  return found == pools.end() ? nullptr : &found->second;
}

/// Chi square of the counts against the expectation from `shares`.
bool differs(const std::vector<double>& shares, const std::vector<double>& counts, double total) {
  if (total < kFewestToDiffer) return false;
  double chi = 0, rest_promised = 0, rest_counted = 0;
  int terms = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const double promised = shares[i] * total;
    if (promised < 1) {
      rest_promised += promised;
      rest_counted += counts[i];
      continue;
    }
    chi += (counts[i] - promised) * (counts[i] - promised) / promised;
    ++terms;
  }
  if (rest_counted > 0) {
    rest_promised = std::max(rest_promised, 0.5);
    chi += (rest_counted - rest_promised) * (rest_counted - rest_promised) / rest_promised;
    ++terms;
  }
  const double freedom = std::max(1, terms - 1);
  return chi > freedom + kSigmas * std::sqrt(2 * freedom);
}

std::vector<double> counts_of(const Pool& pool, const Pool& of_all) {
  std::vector<double> counts(of_all.parts.size());
  for (const PooledPart& part : pool.parts) {
    const auto found = of_all.part_of.find(hash_of(part.frames));
    if (found != of_all.part_of.end()) counts[found->second] += part.weight;
  }
  return counts;
}

void mix_in(std::vector<double>& shares, const std::vector<double>& counts, double total) {
  const double prior = differs(shares, counts, total) ? kPriorIfDifferent : kPriorIfAlike;
  for (size_t i = 0; i < shares.size(); ++i) {
    shares[i] = (counts[i] + prior * shares[i]) / (total + prior);
  }
}

double share_in(const PooledPart& part, const Pool& pool) {
  return part.weight / pool.weight;
}

}  // namespace

double unsampled_part(double expected, double weight) {
  if (expected < kFewestExpected) return 0;
  const bool too_few =
      weight < expected - kSigmas * std::sqrt(expected) - 1 && weight < 0.8 * expected;
  return too_few ? 1 - weight / expected : 0;
}

void Pool::add(std::span<const RegionId> frames, double sample_weight, double sample_position) {
  const double position = std::round(sample_position / kPositionUnit) * kPositionUnit;
  add_sum(frames, sample_weight, sample_weight * position);
}

void Pool::add_sum(std::span<const RegionId> frames, double weights, double positions) {
  const auto [it, is_new] =
      part_of.try_emplace(hash_of(frames), static_cast<uint32_t>(parts.size()));
  if (is_new) parts.push_back({{frames.begin(), frames.end()}, 0, 0});
  PooledPart& part = parts[it->second];
  part.weight += weights;
  part.position += positions;
  weight += weights;
}

void Pool::merge(const Pool& other) {
  ends = other.ends;
  length_ns += other.length_ns;
  expected += other.expected;
  for (const PooledPart& part : other.parts) add_sum(part.frames, part.weight, part.position);
}

void StretchTally::add(StretchKind kind, const StretchEnds& ends, Duration length, double expected,
                       std::span<const StretchSample> samples) {
  const StretchClass what{kind, 0, length_class(length)};
  const uint32_t place = places_.at(StretchClassHash()(what), static_cast<uint32_t>(pools_.size()));
  if (place == pools_.size()) pools_.push_back({what, {}});
  Pool& pool = pools_[place].second;
  pool.ends = ends;
  pool.length_ns += static_cast<double>(length.nanos());
  pool.expected += expected;
  for (const StretchSample& sample : samples) {
    pool.add(sample.frames, static_cast<double>(sample.weight), sample.position);
  }
}

void Folding::merge(uint32_t lane, StretchTally&& tally) {
  constexpr double kWorthKeeping = 2;
  for (auto& [what, pool] : tally.pools_) {
    length_ns_ += pool.length_ns;
    unsampled_ns_[lane] += pool.length_ns * unsampled_part(pool.expected, pool.weight);
    by_kind_[what.kind].merge(pool);
    if (pool.weight == 0 && pool.expected < kWorthKeeping) continue;
    by_length_[what].merge(pool);
    by_lane_[{what.kind, lane, what.length}].merge(pool);
    if (pool.weight > 0) of_lane_[lane][what.kind].merge(pool);
  }
}

template <class Way>
void fields(Way& way, PooledPart& part) {
  way(part.frames, part.weight, part.position);
}

/// Its parts' places are found anew.
template <class Way>
void fields(Way& way, Pool& pool) {
  way(pool.ends, pool.length_ns, pool.expected, pool.parts);
}

namespace {

/// A pool as its parts make it.
Pool remade(const Pool& pool) {
  Pool made;
  made.merge(pool);
  return made;
}

template <class Pools>
void renumber_pools(Pools& pools, const std::vector<RegionId>& number) {
  const auto change = [&](RegionId& region) {
    if (region.valid()) region = number[region.index()];
  };
  for (auto& [key, pool] : pools) {
    change(pool.ends.from);
    change(pool.ends.to);
    for (PooledPart& part : pool.parts) {
      for (RegionId& region : part.frames) change(region);
    }
    pool = remade(pool);
  }
}

template <class Pools>
void pack_pools(const Pools& pools, Packer& packer) {
  FieldPacker way(packer);
  auto count = uint64_t{pools.size()};
  way(count);
  for (const auto& [key, pool] : pools) {
    auto one = key;
    Pool copy = pool;
    way(one, copy);
  }
}

template <class Pools>
void add_pools(Unpacker& unpacker, Pools& pools) {
  FieldUnpacker way(unpacker);
  for (auto left = unpacker.get<uint64_t>(); left > 0; --left) {
    typename Pools::key_type key{};
    Pool pool;
    way(key, pool);
    pools[key].merge(pool);
  }
}

}  // namespace

void Folding::renumber(const std::vector<RegionId>& number) {
  renumber_pools(by_kind_, number);
  renumber_pools(by_length_, number);
  renumber_pools(by_lane_, number);
  for (auto& [lane, pools] : of_lane_) renumber_pools(pools, number);
  for (auto& [kind, region] : sleeps_) {
    if (region.valid()) region = number[region.index()];
  }
}

void Folding::pack(Packer& packer) const {
  packer.put(length_ns_);
  pack_pools(by_kind_, packer);
  pack_pools(by_length_, packer);
}

void Folding::join(const std::vector<Parcel>& all) {
  length_ns_ = 0;
  by_kind_.clear();
  by_length_.clear();
  for (const Parcel& parcel : all) {
    Unpacker unpacker(parcel);
    length_ns_ += unpacker.get<double>();
    add_pools(unpacker, by_kind_);
    add_pools(unpacker, by_length_);
  }
}

void Folding::name_sleeps(const NameOfSleep& name_of) {
  const auto name = [&](StretchKind kind, const Pool& pool) {
    if (unsampled_part(pool.expected, pool.weight) <= 0 || sleeps_.contains(kind)) return;
    sleeps_.emplace(kind, name_of(pool.ends));
  };
  for (const auto& [kind, pool] : by_kind_) name(kind, pool);
  for (const auto& [what, pool] : by_length_) name(what.kind, pool);
  for (const auto& [what, pool] : by_lane_) name(what.kind, pool);
}

LaneFolding::LaneFolding(const Folding& folding, uint32_t lane, double asleep_ns)
    : all_(folding), lane_(lane) {
  find_unseen();
  const auto seeming = folding.unsampled_ns_.find(lane);
  if (seeming == folding.unsampled_ns_.end() || seeming->second <= 0) return;
  asleep_part_ = std::clamp(asleep_ns / seeming->second, 0.0, 1.0);
}

/// What others do in the same kinds of stretches, and this thread never does.
void LaneFolding::find_unseen() {
  const auto own = all_.of_lane_.find(lane_);
  if (own == all_.of_lane_.end()) return;
  std::unordered_map<uint64_t, double> promised;
  std::unordered_set<uint64_t> seen;
  for (const auto& [kind, pool] : own->second) {
    const Pool& of_all = all_.by_kind_.at(kind);
    for (const PooledPart& part : of_all.parts) {
      promised[hash_of(part.frames)] += share_in(part, of_all) * pool.weight;
    }
    for (const PooledPart& part : pool.parts) seen.insert(hash_of(part.frames));
  }
  for (const auto& [frames, samples] : promised) {
    if (samples >= kSurelySeen && !seen.contains(frames)) unseen_.insert(frames);
  }
}

/// Leaves out what the thread does not do in stretches of this kind, or nowhere at all. False if
/// nothing is left.
bool LaneFolding::drop_unseen(StretchKind kind, const Pool& of_all,
                              std::vector<double>& shares) const {
  const auto lane = all_.of_lane_.find(lane_);
  const Pool* const own = lane == all_.of_lane_.end() ? nullptr : find(lane->second, kind);
  const std::vector<double> counts =
      own == nullptr ? std::vector<double>(shares.size()) : counts_of(*own, of_all);
  const double samples = own == nullptr ? 0 : own->weight;
  double sum = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const PooledPart& part = of_all.parts[i];
    const bool is_not_here = share_in(part, of_all) * samples >= kSurelySeen;
    const bool is_nowhere = unseen_.contains(hash_of(part.frames));
    if (counts[i] == 0 && (is_not_here || is_nowhere)) shares[i] = 0;
    sum += shares[i];
  }
  if (sum <= 0) return false;
  for (double& share : shares) share /= sum;
  return true;
}

void LaneFolding::blend(std::vector<double>& shares, const Pool& of_all, const Pool& pool) const {
  if (pool.weight > 0) mix_in(shares, counts_of(pool, of_all), pool.weight);
}

LaneFolding::Mixture LaneFolding::mix(StretchKind kind, uint32_t length) const {
  Mixture mixture;
  const Pool* of_all = find(all_.by_kind_, kind);
  if (of_all == nullptr) return mixture;
  const Pool* of_length = find(all_.by_length_, StretchClass{kind, 0, length});
  const Pool* of_lane = find(all_.by_lane_, StretchClass{kind, lane_, length});
  for (const Pool* pool : {of_lane, of_length, of_all}) {
    if (pool == nullptr || pool->expected < kFewestExpected) continue;
    mixture.unsampled = asleep_part_ * unsampled_part(pool->expected, pool->weight);
    break;
  }
  mixture.asleep = mixture.unsampled > 0 && asleep_part_ > kMostly;
  if (of_all->weight == 0) {
    mixture.negligible = of_all->length_ns < kNegligible * all_.length_ns_;
    mixture.unsampled = 1;
    return mixture;
  }
  std::vector<double> shares;
  for (const PooledPart& part : of_all->parts) shares.push_back(part.weight / of_all->weight);
  mixture.samples = of_all->weight;
  for (const Pool* pool : {of_length, of_lane}) {
    if (pool != nullptr) blend(shares, *of_all, *pool);
  }
  if (!drop_unseen(kind, *of_all, shares)) {
    mixture.unsampled = 1;
    return mixture;
  }
  for (size_t i = 0; i < shares.size(); ++i) {
    const PooledPart& part = of_all->parts[i];
    mixture.shares.push_back({&part, shares[i], part.position / part.weight, 0});
  }
  return mixture;
}

LaneFolding::Mixture& LaneFolding::mixture_of(StretchKind kind, Duration length) {
  const StretchClass what{kind, lane_, length_class(length)};
  const uint32_t place = places_.at(StretchClassHash()(what), static_cast<uint32_t>(known_.size()));
  if (place == known_.size()) known_.push_back(mix(kind, what.length));
  return known_[place];
}

/// The stretch's own samples say more of it than those of others.
LaneFolding::Mixture LaneFolding::with_own(const Mixture& known, StretchKind kind, double expected,
                                           std::span<const StretchSample> own) const {
  Mixture mixture = known;
  const Pool* of_all = find(all_.by_kind_, kind);
  if (of_all == nullptr) return mixture;
  Pool pool;
  for (const StretchSample& sample : own) {
    pool.add(sample.frames, static_cast<double>(sample.weight), sample.position);
  }
  if (expected >= kFewestExpected && of_all->weight > 0) {
    mixture.unsampled = asleep_part_ * unsampled_part(expected, pool.weight);
    mixture.asleep = mixture.unsampled > 0 && asleep_part_ > kMostly;
  }
  if (own.empty() || mixture.shares.empty()) return mixture;
  std::vector<double> shares;
  for (const Share& share : mixture.shares) shares.push_back(share.share);
  blend(shares, *of_all, pool);
  for (size_t i = 0; i < shares.size(); ++i) mixture.shares[i].share = shares[i];
  return mixture;
}

/// Keeps the largest parts, in order of time.
static void thin_out(std::vector<std::pair<double, size_t>>& largest) {
  std::sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  while (largest.size() > 1 &&
         (largest.size() > kMostParts || largest.back().first < kLeastShare)) {
    largest.pop_back();
  }
}

std::vector<Portion> LaneFolding::cut(const Mixture& mixture, Duration length) {
  std::vector<std::pair<double, size_t>> largest;
  for (size_t i = 0; i < mixture.shares.size(); ++i) {
    largest.emplace_back(mixture.shares[i].share, i);
  }
  thin_out(largest);
  double sum = 0;
  for (const auto& [share, i] : largest) sum += share;
  std::sort(largest.begin(), largest.end(), [&](const auto& a, const auto& b) {
    const double at_a = mixture.shares[a.second].position;
    const double at_b = mixture.shares[b.second].position;
    return at_a != at_b ? at_a < at_b : a.second < b.second;
  });
  const double whole = static_cast<double>(length.nanos());
  std::vector<Portion> portions;
  double at = 0;
  int64_t told = 0;
  for (const auto& [share, i] : largest) {
    at += whole * (1 - mixture.unsampled) * share / sum;
    const auto until = static_cast<int64_t>(at);
    portions.push_back({mixture.shares[i].part->frames, Duration::from_nanos(until - told), true});
    told = until;
  }
  const Duration rest = Duration::from_nanos(length.nanos() - told);
  if (mixture.unsampled > 0) {
    portions.push_back({{}, rest, false, mixture.asleep});
  } else if (!portions.empty()) {
    portions.back().length += rest;
  }
  return portions;
}

/// Who is owed most.
std::vector<Portion> LaneFolding::take_one(Mixture& mixture, Duration length) {
  Share* next = nullptr;
  for (Share& share : mixture.shares) {
    share.owed += share.share * static_cast<double>(length.nanos());
    if (next == nullptr || share.owed > next->owed) next = &share;
  }
  if (next == nullptr) return {{{}, length, false}};
  next->owed -= static_cast<double>(length.nanos());
  return {{next->part->frames, length, true}};
}

std::vector<Portion> LaneFolding::divide(StretchKind kind, Duration length, double expected,
                                         std::span<const StretchSample> own) {
  if (length <= Duration::zero()) return {};
  Mixture& known = mixture_of(kind, length);
  if (known.negligible && own.empty()) return {};
  const bool is_short = length.nanos() < kShortNs && own.empty();
  if (is_short && known.unsampled < 0.5) return take_one(known, length);
  if (own.empty() && expected < kFewestExpected) return cut(known, length);
  return cut(with_own(known, kind, expected, own), length);
}

RegionId LaneFolding::name_of_sleep(StretchKind kind) const {
  const auto found = all_.sleeps_.find(kind);
  return found == all_.sleeps_.end() ? RegionId::none() : found->second;
}

bool LaneFolding::is_alone(StretchKind kind, std::span<const StretchSample> own) const {
  double weight = 0;
  for (const StretchSample& sample : own) weight += static_cast<double>(sample.weight);
  const Pool* of_all = find(all_.by_kind_, kind);
  return of_all == nullptr || of_all->weight <= weight;
}

}  // namespace culprit::assemble
