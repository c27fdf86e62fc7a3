// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A log's region while records are folded into it: the stretch at hand, the events around it, and
// the rows in which both end up. It knows neither MPI nor OpenMP. Most functions are here because
// they are called for each record.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fold/change.h"
#include "fold/profile/fold_state.h"
#include "fold/rows.h"

namespace culprit::fold {

/// The rows that exist from the begin: stretches outside of all events, with any ends, by state.
constexpr uint32_t row_of_state(ProfileState state) {
  return 1 + static_cast<uint32_t>(state);
}
inline constexpr uint32_t kFirstRows = 1 + trace::kProfileStates;

/// Whether a thread in this state only waits.
constexpr bool is_waiting(ProfileState state) {
  return state == ProfileState::idle || state == ProfileState::lock;
}

class Folding {
 public:
  /// `changes`: where the ends of stretches are listed, and what else others need; may be nullptr.
  Folding(std::byte* region, ChangeList* changes);

  ProfileLog& log;
  FoldState& state;
  const Rows rows;

  /// The innermost event that is open, or the root.
  uint32_t around() const {
    return state.depth > 0 ? state.open[state.depth - 1].row : Rows::kRoot;
  }
  ProfileState now() const {
    if (state.is_off) return ProfileState::absent;
    return state.depth > 0 ? state.open[state.depth - 1].state : state.outside;
  }
  bool is_inside(ProfileKind kind) const {
    return state.depth > 0 && state.open[state.depth - 1].kind == kind;
  }

  // --- Stretches ---

  /// The stretch at hand ends, and the next one begins.
  void end_stretch(uint64_t time, uint32_t edge) { end_stretch(time, edge, now()); }
  /// The same, and the thread spent it in `spent`.
  void end_stretch(uint64_t time, uint32_t edge, ProfileState spent);
  /// The thread was found at a call path.
  void sample(uint64_t time, uint32_t path, uint32_t weight);
  /// The kernel worked for the thread in the stretch at hand.
  void use_kernel(uint64_t time, const PendingKernel& use);

  // --- Events ---

  /// The row of an event at a place in the code, or at a frame of a call path, inside the event
  /// that is open; the root if there is no room.
  uint32_t event_row(ProfileKind kind, uint64_t place, uint16_t detail);
  uint32_t event_row_at_path(ProfileKind kind, uint32_t path, uint16_t detail);
  /// An event with this row (the root: it has none) begins.
  void begin(uint64_t time, ProfileKind kind, uint32_t row, ProfileState inside, uint64_t object);
  /// The event at `depth` ends, and all inside it.
  void end(uint64_t time, uint32_t depth);
  /// Ends the innermost event of this kind and object, no further out than the thread's team. False
  /// if there is none.
  bool end(uint64_t time, ProfileKind kind, uint64_t object);
  /// Counts a visit of an event that never was open.
  void visit(uint32_t row, uint64_t ticks, uint64_t waited);

  static constexpr uint32_t kNowhere = ~uint32_t{0};
  /// Depth of the innermost event of this kind and object, no further out than the thread's team.
  uint32_t find(ProfileKind kind, uint64_t object) const;

  // --- Call paths ---

  void define_path(uint32_t path, uint32_t parent, uint64_t address);
  /// The row of the path's innermost frame; the root if it is not known.
  uint32_t frame_of(uint32_t path) const {
    const PathSlot& slot = slot_of(path);
    return slot.path == path ? slot.frame : Rows::kRoot;
  }

  /// Gives rows that hardly count to others, where a row found no room (fold/profile/join.cpp).
  void join_rows();

  ChangeList* const changes;

 private:
  void pop();
  void note_longest(ProfileRow& row, uint64_t ticks, uint64_t end) const;
  uint32_t stretch_row(uint32_t edge, ProfileState spent);
  uint32_t new_stretch_row(uint32_t edge, ProfileState spent);
  void spread(uint64_t begin, uint64_t end, ProfileState spent);
  void take_tool_ticks(uint64_t end);
  void give_samples(uint32_t row);
  void give_kernel_use(uint32_t row);
  void give_reading(uint32_t row);
  PathSlot& slot_of(uint32_t path) const;
  NextStretch& next_of(uint32_t edge) const { return next_[edge]; }

  NextStretch* next_;
  PathSlot* paths_;
  uint32_t path_slots_;

  friend class Joining;
};

inline void Folding::note_longest(ProfileRow& row, uint64_t ticks, uint64_t end) const {
  const uint64_t longest = ticks >> trace::kProfileLongestShift;
  if (longest <= row.longest) return;
  const uint64_t moment = (end - log.origin) >> trace::kProfileMomentShift;
  row.longest = static_cast<uint32_t>(std::min<uint64_t>(longest, UINT32_MAX));
  row.longest_at = static_cast<uint32_t>(std::min<uint64_t>(moment, UINT32_MAX));
}

inline uint32_t Folding::stretch_row(uint32_t edge, ProfileState spent) {
  const NextStretch& next = next_of(state.edge);
  if (next.edge == edge && next.row != 0 && rows[next.row].detail == static_cast<uint16_t>(spent))
      [[likely]] {
    return next.row;
  }
  return new_stretch_row(edge, spent);
}

// Events at the same tick make no stretches between them.
inline void Folding::end_stretch(uint64_t time, uint32_t edge, ProfileState spent) {
  if (time <= log.until) {
    state.edge = edge;
    return;
  }
  if (state.tool_ticks != 0) [[unlikely]]
    take_tool_ticks(time);
  const uint64_t ticks = time - log.until;
  const uint32_t row = stretch_row(edge, spent);
  ProfileRow& to = rows[row];
  ++to.visits;
  to.ticks += ticks;
  note_longest(to, ticks, time);
  if (time < state.bucket_end) [[likely]] {
    log.series.ticks[state.bucket][static_cast<unsigned>(spent)] += ticks;
  } else {
    spread(log.until, time, spent);
  }
  if (state.weight != 0) give_samples(row);
  if (state.kernel_count != 0) [[unlikely]]
    give_kernel_use(row);
  if (state.has_reading) [[unlikely]]
    give_reading(row);
  if (is_waiting(spent) && state.depth > 0) state.open[state.depth - 1].waited += ticks;
  if (changes != nullptr) changes->add(time, ChangeKind::stretch_ended, row);
  log.until = time;
  state.edge = edge;
}

inline uint32_t Folding::event_row(ProfileKind kind, uint64_t place, uint16_t detail) {
  constexpr unsigned kHashShift = 56;
  static_assert(kRecentEvents == 1u << (64 - kHashShift));
  const RowKey key{place, around(), detail, kind};
  const uint64_t mixed = (place ^ uint64_t{key.parent} << 40 ^ static_cast<uint64_t>(kind) << 32) *
                         0x9e3779b97f4a7c15u;
  uint32_t& recent = state.recent[mixed >> kHashShift];
  if (recent != 0 && key_of(rows[recent]) == key) return recent;
  const uint32_t row = rows.of(key);
  if (row == Rows::kRoot) return row;
  return recent = row;
}

inline uint32_t Folding::event_row_at_path(ProfileKind kind, uint32_t path, uint16_t detail) {
  PathSlot& slot = slot_of(path);
  if (slot.path != path) return event_row(kind, Rows::kRoot, detail);
  const RowKey key{slot.frame, around(), detail, kind};
  if (slot.event != 0 && key_of(rows[slot.event]) == key) return slot.event;
  const uint32_t row = rows.of(key);
  if (row != Rows::kRoot) slot.event = row;
  return row;
}

inline void Folding::begin(uint64_t time, ProfileKind kind, uint32_t row, ProfileState inside,
                           uint64_t object) {
  const bool cut = row == Rows::kRoot;
  if (cut) [[unlikely]] {
    row = around();
    ++log.cut_rows;
    state.wants_join = true;
  }
  end_stretch(time, trace::profile_edge(row, false));
  if (state.depth == kMostOpenEvents) [[unlikely]] {
    ++state.deeper;
    ++log.cut_depth;
    return;
  }
  state.open[state.depth++] = {.begin = log.until,
                               .waited = 0,
                               .object = object,
                               .row = row,
                               .frame = 0,
                               .kind = kind,
                               .state = inside,
                               .cut = cut};
}

inline void Folding::visit(uint32_t row, uint64_t ticks, uint64_t waited) {
  ProfileRow& to = rows[row];
  ++to.visits;
  to.ticks += ticks;
  to.waits += waited;
  note_longest(to, ticks, log.until);
}

inline void Folding::pop() {
  const OpenEvent& event = state.open[--state.depth];
  if (!event.cut) visit(event.row, log.until - event.begin, event.waited);
}

inline void Folding::end(uint64_t time, uint32_t depth) {
  end_stretch(time, trace::profile_edge(state.open[depth].row, true));
  while (state.depth > depth) pop();
}

inline uint32_t Folding::find(ProfileKind kind, uint64_t object) const {
  for (uint32_t i = state.depth; i-- > 0;) {
    const OpenEvent& event = state.open[i];
    if (event.kind == kind && event.object == object) return i;
    if (event.kind == ProfileKind::team) break;
  }
  return kNowhere;
}

inline bool Folding::end(uint64_t time, ProfileKind kind, uint64_t object) {
  if (state.deeper > 0) [[unlikely]] {
    --state.deeper;
    end_stretch(time, trace::profile_edge(around(), false));
    return true;
  }
  const uint32_t depth = find(kind, object);
  if (depth == kNowhere) return false;
  end(time, depth);
  return true;
}

inline PathSlot& Folding::slot_of(uint32_t path) const {
  // The first paths have places of their own: the outermost frames are among them. Later ones take
  // turns, since the collector gives new numbers to all paths once it has forgotten some.
  const uint32_t kept = path_slots_ / 4 * 3;
  return paths_[path < kept ? path : kept + (path - kept) % (path_slots_ - kept)];
}

}  // namespace culprit::fold
