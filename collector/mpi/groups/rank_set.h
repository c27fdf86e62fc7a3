// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sets of ranks, for collectives in which not all processes exchange data with all others. A set is
// defined once, in the log of the thread that meets it first, and has a number of ours from then
// on, in the whole process: a request may complete on another thread than it was posted on.
//
// A set is never spelt out in memory to be looked up. It is a walk over ascending ranks, taken once
// to get a hash and once to compare, so a call that repeats an earlier one costs two walks over its
// counts, and no memory. MT: no lock; two threads that meet a new set at once define it twice.
#pragma once

#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

/// A set's number. `implied`: the ranks that the operation's kind implies, usually all.
enum class RankSet : uint32_t { implied = 0 };

/// The members among the 64 ranks from 64 * index on, one bit each.
struct RankChunk {
  uint64_t index = 0;
  uint64_t bits = 0;
  bool operator==(const RankChunk&) const = default;
};

/// Calls `use(RankChunk)` for each non-empty chunk of a set. `ranks(visit)` calls `visit(rank)` for
/// each member in ascending order; repeats do no harm.
template <class Ranks, class Use>
void each_chunk(const Ranks& ranks, const Use& use) {
  RankChunk chunk;
  ranks([&](int rank) {
    const auto place = static_cast<uint32_t>(rank);
    if (place / 64 != chunk.index) {
      if (chunk.bits) use(chunk);
      chunk = {place / 64, 0};
    }
    chunk.bits |= uint64_t{1} << (place % 64);
  });
  if (chunk.bits) use(chunk);
}

/// A set that has been defined; it is never freed, and `count` chunks follow it in memory.
struct KnownSet {
  uint64_t hash;
  uint32_t count;
  RankSet id;
  const KnownSet* next;
  RankChunk* chunks() { return reinterpret_cast<RankChunk*>(this + 1); }
  const RankChunk* chunks() const { return reinterpret_cast<const RankChunk*>(this + 1); }
};

/// The first of a chain of sets with this hash, and maybe others.
const KnownSet* first_known_set(uint64_t hash);

/// Defines a set: one add() for each chunk, then finish(), which gives it its number.
class SetDefinition {
 public:
  SetDefinition(ThreadLog& log, uint64_t time, uint64_t hash, uint32_t chunks);
  void add(const RankChunk& chunk);
  RankSet finish();

 private:
  void flush();
  static constexpr unsigned kWords = 254;  ///< words of whole pairs that leave room for the
                                           ///< record's fields
  ThreadLog& log_;
  uint64_t time_;
  RankSet id_;
  uint32_t chunks_;
  KnownSet* known_;  ///< null: too many sets are remembered already, or there is no memory
  uint32_t added_ = 0;
  bool first_ = true;
  unsigned used_ = 0;
  uint64_t words_[kWords];
};

/// The number of the set that `ranks` visits (each_chunk says how).
template <class Ranks>
RankSet set_of(ThreadLog& log, uint64_t time, const Ranks& ranks) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  uint32_t count = 0;
  each_chunk(ranks, [&](const RankChunk& chunk) {
    hash = (hash ^ chunk.index) * 0xff51afd7ed558ccdu;
    hash = (hash ^ (hash >> 32) ^ chunk.bits) * 0xc4ceb9fe1a85ec53u;
    ++count;
  });
  hash ^= hash >> 32;
  for (const KnownSet* known = first_known_set(hash); known; known = known->next) {
    if (known->hash != hash || known->count != count) continue;
    const RankChunk* expected = known->chunks();
    bool same = true;
    each_chunk(ranks, [&](const RankChunk& chunk) { same = same && chunk == *expected++; });
    if (same) return known->id;
  }
  SetDefinition definition(log, time, hash, count);
  each_chunk(ranks, [&](const RankChunk& chunk) { definition.add(chunk); });
  return definition.finish();
}

}  // namespace culprit::collector::mpi
