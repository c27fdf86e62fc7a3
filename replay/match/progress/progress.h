// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Operations that were begun in time and yet go on only when another process next calls MPI. No
// event says so; the run as a whole does. Operations that are alike are a class: in one that needs
// progress
//
//   1. hardly any operation came to its end while the other process was silent (kMostFreed), or
//      silences of the others were plainly longer than what followed (kPlainlyLonger), and
//   2. the end follows the return of that process, not the begin: where silences vary in length,
//      what is left after them varies less; where they do not, they are much longer than the rest,
//      or the whole takes much longer than on a slow machine.
//
// A silence counts if it is clearly longer than what operations of the class take by themselves
// (tau). A slow process has no silence after the begin, or fails the first or the second test; a
// process that tests often is never silent for long. A single operation allows neither test: a very
// long silence makes it suspect.
#pragma once

#include <compare>
#include <map>
#include <vector>

#include "replay/match/progress/silences.h"

namespace culprit::replay {

/// The role in which another process may be needed again.
enum class Helper : uint8_t {
  sender,
  receiver,       ///< that had asked for the message before it was sent
  late_receiver,  ///< that did so afterwards
  member,
  target
};

/// Operations that are alike.
struct ProgressClass {
  RegionId operation;  ///< the call that began it
  Helper helper = Helper::sender;
  bool far = false;       ///< not all on one node
  uint8_t size = 0;       ///< bits of the number of bytes
  uint32_t members = 2;   ///< how many take part
  ProcessId waiter, who;  ///< of few members: in a library's tree some pairs need each other

  auto operator<=>(const ProgressClass&) const = default;
  /// Returns the class of all pairs together.
  ProgressClass of_all() const {
    ProgressClass all = *this;
    all.waiter = all.who = {};
    return all;
  }
};
/// Up to this many members, each pair is a class of its own.
inline constexpr size_t kFewMembers = 32;

ProgressClass progress_class(RegionId operation, Helper helper, bool far, uint64_t bytes);

/// A call that completes an operation, and another process that takes part in it.
struct Assisted {
  LocationId at;
  Call call;
  ProcessId who;
  Time begun;  ///< when the last had begun it who is needed
  Time from,
      until;   ///< when the other's part in it was begun, and complete as far as that can tell
  Time asked;  ///< since when its caller has tested for it; Time::max(): it waits in the call
  uint32_t bytes;
  ProgressClass kind;

  /// Returns the time from which only the other process was missing.
  Time since() const { return std::max(begun, from); }
  Time waits_from() const { return std::min(call.enter, asked); }
};

/// Amounts of time, each known to a quarter of an octave.
class TimeCounts {
 public:
  void add(Duration time, uint64_t count = 1);
  void add(const TimeCounts& other);
  /// Returns the lower quartile of the amounts; zero if there are none.
  Duration lower_quartile() const;
  uint64_t at_least(Duration time) const;

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [step, count] : counts_) visit(from(step), count);
  }

 private:
  static uint8_t step_of(Duration time);
  static Duration from(uint8_t step);
  std::map<uint8_t, uint64_t> counts_;
};

/// The evidence about a class, collected while operations are visited.
struct Evidence {
  TimeCounts alone;         ///< how long they took that met no silence; of all pairs
  TimeCounts freed;         ///< silences during which they were complete
  uint64_t most_bytes = 0;  ///< of all pairs

  void add(const Evidence& other);
};

class ProgressEvidence {
 public:
  /// Returns true if the other process came back while the operation was open. The operation must
  /// then be kept until all evidence is there.
  bool add(const Assisted& operation, const Silences& silences);
  /// Adds an operation during which no process was silent.
  void add_alone(const Assisted& operation);
  void add(const ProgressEvidence& other);
  /// Sums the evidence over all ranks. Collective.
  void share(Transport& ranks);

  /// Returns the time that operations of a class take on a slow machine.
  Duration slow_time(const ProgressClass& kind) const;
  /// Returns a generous bound of the time that they take by themselves: tau.
  Duration usual_time(const ProgressClass& kind) const;
  /// Returns how many operations ended within silences of at least that length.
  uint64_t freed(const ProgressClass& kind, Duration silence) const;

 private:
  Evidence& of(const ProgressClass& kind);
  const Evidence* find(const ProgressClass& kind) const;
  std::map<ProgressClass, Evidence> classes_;
  std::map<ProgressClass, Evidence>::value_type* latest_ = nullptr;
};

/// The last silence of at least 2 `tau` after `since` that ended while the operation was open.
const Silence* last_return(const Assisted& operation, Time since, Duration tau,
                           const Silences& silences);
/// Returns whether the other process had been silent for as long at the end of the call, and still
/// was.
bool silent_at_end(const Assisted& operation, Time since, Duration tau, const Silences& silences);

/// An operation that ended after a silence.
struct HeldUp {
  ProgressClass kind;
  Duration silence, after;  ///< since all else was there; from the return on
  Duration whole;           ///< from the begin to the end
};

enum class Need : uint8_t { none, suspected, progress };

/// `freed`: how many came to their end in silences of 2 `tau` and more; `slow`: slow_time().
Need judge_need(const std::vector<HeldUp>& held, uint64_t freed, Duration tau, Duration slow);

}  // namespace culprit::replay
