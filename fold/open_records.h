// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A Carry as those see it who carry one record: what is open around the record, what it begins, and
// what it ends.
#pragma once

#include <cstdint>

#include "fold/carry_state.h"
#include "fold/carry_tables.h"
#include "trace/raw/records.h"

namespace culprit::fold {

namespace raw = trace::raw;

inline constexpr unsigned kNotOpen = ~0u;

/// The record that is carried, and the state that it changes.
class OpenRecords {
 public:
  OpenRecords(Carry& state, const trace::RawHeader& record, const uint64_t* its_words)
      : header(record), words(its_words), state_(state) {}

  const trace::RawHeader header;
  const uint64_t* const words;

  template <class Record>
  Record as() const {
    return raw::unpack<Record>(header.arg, header.flags, words, header.words);
  }

  unsigned depth() const { return state_.open_count; }
  Carried& at(unsigned depth) const { return state_.open[depth]; }
  trace::RawKind kind_at(unsigned depth) const { return state_.open[depth].header.kind; }
  bool is_innermost(trace::RawKind kind) const {
    return depth() > 0 && kind_at(depth() - 1) == kind;
  }

  /// The innermost record of a kind for which agrees(depth). The search ends where the thread's
  /// task, or its own function, began: what lies further out does not end inside of it.
  template <class Agrees>
  unsigned find(trace::RawKind kind, const Agrees& agrees) const {
    for (unsigned i = depth(); i-- > 0;) {
      if (kind_at(i) == kind && agrees(i)) return i;
      if (is_base(kind_at(i))) break;
    }
    return kNotOpen;
  }
  unsigned find(trace::RawKind kind) const {
    return find(kind, [](unsigned) { return true; });
  }
  /// Whether the record that is open there has the same word, or flags, as that which is carried.
  auto same_word(unsigned word) const {
    return [this, word](unsigned depth) { return at(depth).words[word] == words[word]; };
  }
  auto same_flags() const {
    return [this](unsigned depth) { return at(depth).header.flags == header.flags; };
  }

  /// The record begins a construct, or is a fact of the one that it lies in.
  void push(uint64_t before = 0);
  /// What is open there ends, with all that is inside it. Nothing ends at kNotOpen.
  void pop_to(unsigned depth);
  void pop_innermost() { pop_to(depth() - 1); }
  void pop_all(unsigned depth);

  /// Another record begins a construct, too.
  void push_other(const trace::RawHeader& other, const uint64_t* its_words) {
    OpenRecords(state_, other, its_words).push();
  }

  /// The call of MPI that the thread is in.
  unsigned call() const { return find(trace::RawKind::mpi_enter); }
  /// The record holds until release() with the same key.
  void hold(Space space, uint64_t key, uint64_t before = 0);
  /// Returns when what was held was made; 0: there is none.
  uint64_t release(Space space, uint64_t key) { return release_held(state_, space, key); }
  void lost(const raw::carried& what) {
    state_.lost_constructs += what.constructs;
    state_.lost_held += what.held;
    state_.lost_counts += what.counts;
  }

  Count* find_count(Space space, uint32_t object, uint64_t key = 0, uint64_t number = 0) {
    return count_of(state_, space, object, key, number);
  }
  /// Counts one more, and returns how many there were.
  uint64_t count(Space space, uint32_t object, uint64_t key = 0, uint64_t number = 0) {
    Count* const found = find_count(space, object, key, number);
    return found != nullptr ? found->count++ : kUnknownCount;
  }
  /// There were `count` so far.
  Count* set_count(uint64_t count, Space space, uint32_t object, uint64_t key = 0,
                   uint64_t number = 0) {
    Count* const found = count != kUnknownCount ? find_count(space, object, key, number) : nullptr;
    if (found != nullptr) found->count = count;
    return found;
  }
  void drop_counts_of(uint32_t comm) { drop_counts(state_, comm); }

 private:
  static bool is_base(trace::RawKind kind) {
    return kind == trace::RawKind::omp_implicit_begin || kind == trace::RawKind::omp_task_switch ||
           kind == trace::RawKind::thread_begun;
  }
  void fill(Carried& record, uint64_t before);

  Carry& state_;
};

/// The innermost record of this kind for which agrees(depth), whatever lies inside.
template <class Agrees>
unsigned find_outwards(const OpenRecords& open, trace::RawKind kind, const Agrees& agrees) {
  for (unsigned depth = open.depth(); depth-- > 0;) {
    if (open.kind_at(depth) == kind && agrees(depth)) return depth;
  }
  return kNotOpen;
}

inline unsigned find_team(const OpenRecords& open) {
  return find_outwards(open, trace::RawKind::omp_implicit_begin, [](unsigned) { return true; });
}

// --- By group of records ---

void carry_mpi(OpenRecords& open);
void carry_window(OpenRecords& open);
void carry_file(OpenRecords& open);
void carry_openmp(OpenRecords& open);
void carry_lock(OpenRecords& open);
void carry_task(OpenRecords& open);

}  // namespace culprit::fold
