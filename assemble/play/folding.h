// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Divides the time between two events, about which only the thread's samples say anything
// (docs/decisions/0015-where-unsampled-time-goes.md). Most such stretches are shorter than the
// sampling period and hold no sample. Stretches of one kind (the same events at both ends, with the
// same return addresses) execute the same code, so they pool their samples, over all iterations,
// threads and ranks, and each is divided in the proportions of the pool: of stretches of about its
// length on its own thread, if these are many or clearly different, else of all others. A first
// walk over all logs tallies stretches and samples, a second one divides. Shares are of time;
// samples count the expirations of the timer that they stand for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/ids.h"
#include "base/ranks/exchange.h"
#include "base/time.h"

namespace culprit::assemble {

/// A hash of the begin and end of a stretch: the events, the constructs around them, and the return
/// addresses, as places in files, so that processes agree.
using StretchKind = uint64_t;

/// A thread whose samples should have found it at a place so often, and never did, is not there.
constexpr double kSurelySeen = 3;

/// Mixes another word into a kind.
constexpr StretchKind with(StretchKind kind, uint64_t word) {
  kind = (kind ^ word) * 0x9e3779b97f4a7c15u;
  return kind ^ kind >> 29;
}

/// The innermost functions of the program that are known at both ends of a stretch; all of a kind
/// have the same.
struct StretchEnds {
  RegionId from, to;        ///< none: they are unknown
  bool same_place = false;  ///< and both ends lie at the same call in it

  bool operator==(const StretchEnds&) const = default;
};

/// A sample within a stretch.
struct StretchSample {
  std::vector<RegionId> frames;  ///< below the innermost construct
  double position = 0;           ///< in the stretch, 0 to 1
  uint64_t weight = 1;           ///< expirations of the timer
};

inline constexpr double kPositionUnit = 1.0 / (1 << 20);

/// The samples of stretches of one kind that found the same functions.
struct PooledPart {
  std::vector<RegionId> frames;
  double weight = 0;
  double position = 0;  ///< sum of weighted positions: a multiple of kPositionUnit, so that sums
                        ///< do not depend on who adds them up
};

struct Pool {
  StretchEnds ends;
  double length_ns = 0;
  double expected = 0;  ///< weight, had the threads computed all the time
  double weight = 0;    ///< of the samples
  std::vector<PooledPart> parts;
  std::unordered_map<uint64_t, uint32_t> part_of;  ///< by hash of the frames

  void add(std::span<const RegionId> frames, double sample_weight, double sample_position);
  /// `positions`: as in PooledPart.
  void add_sum(std::span<const RegionId> frames, double weights, double positions);
  void merge(const Pool& other);
};

/// Stretches of a kind and about the same length: within a factor of two.
struct StretchClass {
  StretchKind kind = 0;
  uint32_t lane = 0;
  uint32_t length = 0;
  bool operator==(const StretchClass&) const = default;
};
struct StretchClassHash {
  size_t operator()(const StretchClass& c) const { return with(with(c.kind, c.lane), c.length); }
};

/// The stretches and samples of one thread's log.
class StretchTally {
 public:
  /// `expected`: the number of samples if the thread had computed all the time.
  void add(StretchKind kind, const StretchEnds& ends, Duration length, double expected,
           std::span<const StretchSample> samples);

 private:
  friend class Folding;
  // Looked up for each stretch: an array of places costs one cache miss where a map of nodes costs
  // three. Classes are distinguished by their hash, as kinds are.
  FlatMap places_;  ///< in pools_, by the hash of their class
  std::deque<std::pair<StretchClass, Pool>> pools_;
};

/// The pools of all threads. MT: read only once merged.
class Folding {
 public:
  void merge(uint32_t lane, StretchTally&& tally);

  /// Region i is `number[i]` from now on.
  void renumber(const std::vector<RegionId>& number);
  /// The pools of all lanes together, for others that have pools of other lanes; join() puts those
  /// of all, in the order of lanes, in place of the own ones.
  void pack(Packer& packer) const;
  void join(const std::vector<Parcel>& all);

  using NameOfSleep = std::function<RegionId(const StretchEnds&)>;
  /// Names the unsampled part of kinds in which threads slept. To be called once, when all are
  /// merged.
  void name_sleeps(const NameOfSleep& name_of);

 private:
  friend class LaneFolding;
  std::unordered_map<StretchKind, RegionId> sleeps_;
  std::unordered_map<uint32_t, double> unsampled_ns_;  ///< by lane: time for which it has no
                                                       ///< samples
  std::unordered_map<StretchKind, Pool> by_kind_;
  std::unordered_map<StretchClass, Pool, StretchClassHash> by_length_, by_lane_;
  std::unordered_map<uint32_t, std::unordered_map<StretchKind, Pool>> of_lane_;
  double length_ns_ = 0;  ///< of all stretches
};

/// A part of a stretch.
struct Portion {
  std::vector<RegionId> frames;
  Duration length;
  bool sampled = true;  ///< false: the functions are unknown, `frames` are empty
  bool asleep = false;  ///< it is known at least that the thread slept
};

/// Divides the stretches of one thread.
class LaneFolding {
 public:
  /// `asleep_ns`: how long the thread neither had a core nor wanted one, by the kernel's count. It
  /// cannot have slept for longer between events, however few its samples are (other threads may
  /// have had its core just then).
  LaneFolding(const Folding& folding, uint32_t lane, double asleep_ns);

  /// The part of the time of apparent sleep that can really be sleep.
  double asleep_part() const { return asleep_part_; }

  /// Portions in order of time; their lengths sum up to `length`. Empty if there is no basis: no
  /// sample was taken in stretches of this kind, and they are short.
  std::vector<Portion> divide(StretchKind kind, Duration length, double expected,
                              std::span<const StretchSample> own);
  /// Whether no other stretch of the kind has samples.
  bool is_alone(StretchKind kind, std::span<const StretchSample> own) const;
  /// The name of a sleep in a stretch of this kind; none if no such stretch slept for long.
  RegionId name_of_sleep(StretchKind kind) const;

 private:
  struct Share {
    const PooledPart* part = nullptr;
    double share = 0;
    double position = 0;
    double owed = 0;  ///< of stretches too short to be divided
  };
  struct Mixture {
    std::vector<Share> shares;  ///< in order of time
    double unsampled = 0;
    bool asleep = false;  ///< in the unsampled part
    double samples = 0;   ///< behind the shares
    bool negligible = false;
  };
  Mixture& mixture_of(StretchKind kind, Duration length);
  Mixture mix(StretchKind kind, uint32_t length) const;
  void find_unseen();
  bool drop_unseen(StretchKind kind, const Pool& of_all, std::vector<double>& shares) const;
  void blend(std::vector<double>& shares, const Pool& of_all, const Pool& pool) const;
  Mixture with_own(const Mixture& known, StretchKind kind, double expected,
                   std::span<const StretchSample> own) const;
  static std::vector<Portion> cut(const Mixture& mixture, Duration length);
  static std::vector<Portion> take_one(Mixture& mixture, Duration length);

  const Folding& all_;
  const uint32_t lane_;
  double asleep_part_ = 1;
  std::unordered_set<uint64_t> unseen_;  ///< paths that others take, by the hash of their frames
  FlatMap places_;                       ///< in known_, by the hash of their class
  std::deque<Mixture> known_;
};

/// The part of time in which the thread did not compute, if there are too few samples for chance.
double unsampled_part(double expected, double weight);

}  // namespace culprit::assemble
