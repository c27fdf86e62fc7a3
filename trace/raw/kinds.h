// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The kinds of raw records, and what can be said of a kind without looking at a record: all of it
// follows from records.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace culprit::trace {

enum class RawKind : uint8_t {
#define RECORD(kind, number, group, kept, meaning) kind = number,
#include "trace/raw/records.def"
};

/// The category of a record, by which records are counted.
enum class RawGroup : uint8_t {
  unknown,      ///< no kind that we know
  structure,    ///< of the log
  definitions,  ///< call paths and names
  mpi,          ///< a call of MPI
  one_sided,    ///< windows of MPI
  files,        ///< of MPI
  openmp,       ///< regions and barriers
  devices,      ///< what host threads do for them
  device_log,   ///< what they did, in logs of no thread
  watch_log,    ///< where threads were seen to sleep, likewise
  measurement,  ///< says nothing of what the program does: clocks, counters, the collector's time
  other,        ///< what else threads do
#define FREQUENT(name, what) name,  ///< what
#include "base/frequent_events.def"
#undef FREQUENT
};

/// All facts that follow from a kind alone.
struct RawKindFacts {
  std::string_view name;
  RawGroup group = RawGroup::unknown;
  bool kept_when_off = false;  ///< while recording is off: others need it to be understood
  bool defines = false;        ///< kept for ever: what it says holds from then on
  bool takes_path = false;     ///< it has a call path
  bool grows = false;          ///< it may still change while it is the newest record
  unsigned words = 0;          ///< that it has at least
};

/// A record notes the moment of another, which is then omitted: in half `half` (0: the lower) of
/// its word `word`.
struct RawNote {
  RawKind in;
  RawKind of;
  unsigned word;
  unsigned half;
};

namespace raw_kinds {

/// A column of records.def, which explains it.
enum class Kept : uint8_t { LEFT_OUT, KEPT, DEFINES };

/// Builds the table of facts, one entry at a time.
struct Builder {
  std::array<RawKindFacts, 256> facts = {};
  RawKindFacts* now = nullptr;
  constexpr void record(RawKind kind, std::string_view name, RawGroup group, Kept kept) {
    now = &facts[static_cast<size_t>(kind)];
    *now = {name, group, kept != Kept::LEFT_OUT, kept == Kept::DEFINES};
  }
};

constexpr std::array<RawKindFacts, 256> all_facts() {
  using enum Kept;
  Builder table;
#define RECORD(kind, number, group, kept, meaning) \
  table.record(RawKind::kind, #kind, RawGroup::group, kept);
#define PATH(name, meaning) table.now->takes_path = true;
#define WORD(type, name, meaning) ++table.now->words;
#define LOW(type, name, meaning) ++table.now->words;
#define GROWS table.now->grows = true;
#define NOTED_LOW(name, kind, meaning) table.now->grows = true;
#include "trace/raw/records.def"
  return table.facts;
}

inline constexpr std::array<RawKindFacts, 256> kFacts = all_facts();

/// Notes by the kinds they are in, at most two a kind; `of` is none where there is none.
constexpr std::array<std::array<RawNote, 2>, 256> all_notes() {
  std::array<std::array<RawNote, 2>, 256> notes = {};
  RawKind in = RawKind::none;
  unsigned word = 0;
#define RECORD(kind, number, group, kept, meaning) in = RawKind::kind, word = 0;
#define WORD(type, name, meaning) ++word;
#define LOW(type, name, meaning) ++word;
#define NOTED_LOW(name, kind, meaning) \
  notes[static_cast<size_t>(in)][0] = {in, RawKind::kind, word, 0};
#define NOTED_HIGH(name, kind, meaning) \
  notes[static_cast<size_t>(in)][1] = {in, RawKind::kind, word, 1};
#include "trace/raw/records.def"
  return notes;
}

inline constexpr std::array<std::array<RawNote, 2>, 256> kNotes = all_notes();

}  // namespace raw_kinds

constexpr const RawKindFacts& facts_of(RawKind kind) {
  return raw_kinds::kFacts[static_cast<size_t>(kind)];
}

/// The moments that records of this kind may note; `of` is none where there is none.
constexpr const std::array<RawNote, 2>& notes_of(RawKind kind) {
  return raw_kinds::kNotes[static_cast<size_t>(kind)];
}

/// The kinds without which other records cannot be understood: who sent what to whom, in which
/// communicators. Enters and leaves of MPI then only show that the records between them are one
/// call. Definitions are needed after the pause.
constexpr bool is_kept_when_off(RawKind kind) {
  return facts_of(kind).kept_when_off;
}

/// A definition, or something that happens once: kept even of times of which no other record is.
constexpr bool is_definition(RawKind kind) {
  return facts_of(kind).defines;
}

/// A record that may still change while it is the newest: signal handlers must stay out while it
/// does. All others enter the checksum at once.
constexpr bool may_grow(RawKind kind) {
  return facts_of(kind).grows;
}

}  // namespace culprit::trace
