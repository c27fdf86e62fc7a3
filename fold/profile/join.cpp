// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A region that is full makes room: rows below a ten thousandth of the log's time join others. Time
// is never lost: a stretch that goes away counts for those with any ends, in the same state, inside
// the nearest event around it that stays. What was sampled or counted in it goes along. Frames of
// call paths stay, since the log defines each path only once, and so does what is open.
//
// Rows keep their order, so parents still come first. The table of following stretches, which is
// only a cache, serves as memory for the rows' new numbers.
#include <cstring>

#include "fold/profile/folding.h"

namespace culprit::fold {
namespace {

constexpr uint64_t kSmallPart = 10000;
constexpr uint64_t kRecordsBetween = 65536;

void add(ProfileRow& to, const ProfileRow& from) {
  to.visits += from.visits;
  to.ticks += from.ticks;
  to.amount += from.amount;
  to.waits += from.waits;
  to.blame += from.blame;
  if (from.longest <= to.longest) return;
  to.longest = from.longest;
  to.longest_at = from.longest_at;
}

}  // namespace

class Joining {
 public:
  explicit Joining(Folding& folding)
      : folding_(folding),
        log_(folding.log),
        rows_(folding.rows),
        count_(folding.rows.count()),
        number_(reinterpret_cast<uint32_t*>(folding.next_)),
        stays_(reinterpret_cast<unsigned char*>(number_ + count_)) {
    static_assert(2 * sizeof(NextStretch) >= sizeof(uint32_t) + sizeof(unsigned char));
  }

  void run() {
    std::memset(stays_, 0, count_);
    keep_what_is_in_use();
    keep_what_is_large();
    move_rows();
    rename();
  }

 private:
  bool is_large(const ProfileRow& row) const {
    return row.ticks >= (log_.until - log_.begin) / kSmallPart;
  }

  void keep_what_is_in_use() {
    const FoldState& state = folding_.state;
    for (uint32_t row = 0; row < kFirstRows; ++row) stays_[row] = 1;
    for (uint32_t i = 0; i < state.depth; ++i) stays_[state.open[i].row] = 1;
    for (const HeldMutex& held : state.held) stays_[held.row] = 1;
    for (const auto& iteration : log_.iterations) stays_[iteration.row] = 1;
    stays_[trace::row_of_edge(state.edge)] = 1;
  }

  /// From the last row to the first, so that what stays takes along what it hangs below.
  void keep_what_is_large() {
    for (uint32_t i = count_; i-- > kFirstRows;) {
      const ProfileRow& row = rows_[i];
      switch (trace::facts_of(row.kind).group) {
        case trace::ProfileGroup::path:
          stays_[i] = 1;
          break;
        case trace::ProfileGroup::event:
          if (is_large(row)) stays_[i] = 1;
          if (stays_[i] != 0) stays_[row.parent] = 1;
          break;
        case trace::ProfileGroup::stretch:
          if (row.place == 0 || !is_large(row)) break;
          stays_[i] = 1;
          stays_[row.parent] = 1;
          stays_[trace::row_of_edge(static_cast<uint32_t>(row.place >> 32))] = 1;
          stays_[trace::row_of_edge(static_cast<uint32_t>(row.place))] = 1;
          break;
        case trace::ProfileGroup::sample:
          if (row.kind != ProfileKind::sampled || row.amount * kSmallPart >= log_.samples) {
            stays_[i] = 1;
          }
          break;
      }
    }
  }

  void move_rows() {
    log_.row_count = 0;
    rows_.index_all();
    for (uint32_t i = 0; i < count_; ++i) {
      const ProfileRow row = rows_[i];
      const trace::ProfileGroup group = trace::facts_of(row.kind).group;
      const bool goes = stays_[i] == 0 && group != trace::ProfileGroup::stretch;
      if (i == Rows::kRoot) {
        log_.row_count = 1;
        number_[i] = Rows::kRoot;
      } else if (goes) {
        number_[i] = number_[row.parent];
        if (group == trace::ProfileGroup::event) give_to_parent(i, row);
      } else {
        number_[i] = move(row, stays_[i] != 0);
      }
    }
  }

  /// Bytes, and waits, of an event that goes away are those of the event around it.
  void give_to_parent(uint32_t number, const ProfileRow& row) {
    ProfileRow& parent = rows_[number_[number]];
    parent.amount += row.amount;
    parent.waits += row.waits;
    parent.blame += row.blame;
  }

  /// The row goes to its new place, or to the row there that is the same by now.
  uint32_t move(const ProfileRow& row, bool stays) {
    RowKey key = key_of(row);
    key.parent = number_[key.parent];
    if (row.kind == ProfileKind::stretch && !stays) key.place = 0;
    if (row.kind == ProfileKind::stretch && stays) key.place = renamed_edges(key.place);
    if (trace::facts_of(row.kind).place == trace::ProfilePlace::frame) {
      key.place = number_[static_cast<uint32_t>(key.place)];
    }
    const uint32_t before = log_.row_count;
    const uint32_t to = rows_.of(key);
    if (to == before) {
      const RowKey its = key_of(rows_[to]);
      rows_[to] = row;
      rows_[to].place = its.place;
      rows_[to].parent = its.parent;
    } else {
      add(rows_[to], row);
    }
    return to;
  }

  uint32_t renamed(uint32_t edge) const {
    return trace::profile_edge(number_[trace::row_of_edge(edge)], trace::leaves_at_edge(edge));
  }
  uint64_t renamed_edges(uint64_t edges) const {
    return uint64_t{renamed(static_cast<uint32_t>(edges >> 32))} << 32 |
           renamed(static_cast<uint32_t>(edges));
  }

  void rename() {
    FoldState& state = folding_.state;
    for (uint32_t i = 0; i < state.depth; ++i) state.open[i].row = number_[state.open[i].row];
    for (uint32_t i = 0; i < state.pending_count; ++i) {
      state.pending[i].row = number_[state.pending[i].row];
    }
    for (HeldMutex& held : state.held) held.row = number_[held.row];
    for (auto& iteration : log_.iterations) iteration.row = number_[iteration.row];
    for (uint32_t i = 0; i < state.kernel_count; ++i) {
      state.kernel[i].frame = number_[state.kernel[i].frame];
    }
    state.sampled = number_[state.sampled];
    state.edge = renamed(state.edge);
    for (uint32_t i = 0; i < folding_.path_slots_; ++i) {
      PathSlot& slot = folding_.paths_[i];
      slot.frame = number_[slot.frame];
      slot.event = Rows::kRoot;
    }
    if (folding_.changes != nullptr) folding_.changes->rename({number_, count_});
    std::memset(state.recent, 0, sizeof state.recent);
    std::memset(folding_.next_, 0, 2 * size_t{rows_.capacity()} * sizeof(NextStretch));
  }

  Folding& folding_;
  ProfileLog& log_;
  const Rows& rows_;
  const uint32_t count_;
  uint32_t* const number_;
  unsigned char* const stays_;
};

void Folding::join_rows() {
  state.wants_join = false;
  state.join_from = log.records + kRecordsBetween;
  ++log.joins;
  Joining(*this).run();
}

}  // namespace culprit::fold
