// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The profile that the collector keeps of a process: file `profile` beside its logs
// (trace/raw/raw.h), mapped and updated in place, of constant size. It begins with a ProfileFile;
// behind it lies a region for each log, without gaps, that begins with a ProfileLog, then the log's
// rows, then tables of the fold alone. Regions are whole pages of kProfilePage
// bytes; those that were never touched are holes.
//
// A row is a call path, an event (a call or a construct), or a stretch (the time between two events
// that follow each other). The ticks of all stretches of a log sum up to ProfileLog::until - begin,
// exactly; those of an event are from its begin to its end, with all inside. A stretch belongs to
// one state and to the innermost event around it. Functions share the time of a stretch by its
// samples.
//
// The profile follows from the log's records alone, whatever the windows in which they come:
// folding a recorded log afterwards (`culprit fold`) gives the same bytes.
//
// A log's thread is the only writer. `version` is odd while it changes the region: a reader that
// copies a region, and finds the same even version before and after, has a consistent copy. A copy
// that was made while the version was odd, of a process that was killed, is uncertain in the last
// window alone. Rows are appended, and keep their numbers until the region is full; then small rows
// join others, the rest moves up, and `joins` is increased.
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::trace {

inline constexpr const char* kProfileFile = "profile";
inline constexpr uint32_t kProfileMagic = 0x50554331;  // "1CUP"
inline constexpr uint32_t kProfileVersion = 1;
inline constexpr size_t kProfilePage = 4096;

/// The quota of a log, which is the size of its region: of the thread that loaded the collector,
/// and of any other. It belongs to the log from its begin, so that folding it afterwards does the
/// same.
inline constexpr size_t kProfileQuotaOfFirst = size_t{8} << 20;
inline constexpr size_t kProfileQuotaOfOthers = size_t{1} << 20;
constexpr size_t profile_quota(uint32_t log) {
  return log == 0 ? kProfileQuotaOfFirst : kProfileQuotaOfOthers;
}

/// What idle threads of the process and waits for its locks came to: of `idle` ticks, `nobody` are
/// those in which no thread worked; what was earned by others is in the blame of rows, but for what
/// is `open`. Ticks, or where the text says so units of ProfileRow::blame.
struct ProfileBlame {
  static constexpr unsigned kReasons = 6;  ///< as fold::Nobody has them
  uint64_t version;                        ///< odd while the sums change
  uint64_t until;                          ///< they are those of then; 0: there are none
  uint64_t idle;
  uint64_t nobody[kReasons];
  uint64_t earned;    ///< units: by work, in rows
  uint64_t handed;    ///< units: by the runtime, while it handed out tasks
  uint64_t open;      ///< units: by work that has not ended, or of rows of logs that are no more
  uint64_t kept_out;  ///< by locks that other threads held. What these earned is in rows of mutexes
  uint64_t lost;      ///< changes that no cut could take: what came of them is missing
};

/// The first page of the file.
struct ProfileFile {
  uint32_t magic;
  uint32_t version;
  uint64_t start_ticks;  ///< RawProcess::start_ticks
  uint64_t used;         ///< bytes given to regions, this page included. It is increased before a
                         ///< region is filled: one without kProfileMagic is not there yet
  ProfileBlame blame;
};

enum class ProfileState : uint8_t {
#define STATE(name, meaning) name,  ///< meaning
#include "trace/raw/profile_rows.def"
};
inline constexpr unsigned kProfileStates = 0
#define STATE(name, meaning) +1
#include "trace/raw/profile_rows.def"
    ;

/// What a row's `parent` is.
enum class ProfileGroup : uint8_t {
  path,     ///< the frame of the caller, or the root
  event,    ///< the event around it, or the root
  stretch,  ///< the innermost event around it, or the root
  sample,   ///< the stretch
};

/// What a row's `place` is.
enum class ProfilePlace : uint8_t {
  none,     ///< 0
  address,  ///< a return address, a function's address, or 0
  frame,    ///< the row of a frame; 0: not known. Without a call path, a frame below the root
  path,     ///< of a team that another thread forked: the number of that thread's log << 32, and of
            ///< the fork's call path in it; else 0
  edges,    ///< the edges (profile_edge) before and after: before << 32 | after; 0: any
  number,   ///< of a counter
};

enum class ProfileKind : uint8_t {
#define ROW(kind, group, place, detail, meaning) kind,  ///< meaning
#include "trace/raw/profile_rows.def"
};

struct ProfileKindFacts {
  ProfileGroup group;
  ProfilePlace place;
};

inline constexpr ProfileKindFacts kProfileKinds[] = {
#define ROW(kind, group, place, detail, meaning) {ProfileGroup::group, ProfilePlace::place},
#include "trace/raw/profile_rows.def"
};
inline constexpr size_t kProfileKindCount = sizeof kProfileKinds / sizeof kProfileKinds[0];

/// `kind` is one of those that exist.
constexpr const ProfileKindFacts& facts_of(ProfileKind kind) {
  return kProfileKinds[static_cast<size_t>(kind)];
}

/// An end of a stretch: the row of an event, and whether the event begins or ends there. 0: the
/// log's begin, or the stretch was cut where no event is.
constexpr uint32_t profile_edge(uint32_t row, bool leaves) {
  return row << 1 | (leaves ? 1 : 0);
}
constexpr uint32_t row_of_edge(uint32_t edge) {
  return edge >> 1;
}
constexpr bool leaves_at_edge(uint32_t edge) {
  return (edge & 1) != 0;
}

/// Units of ProfileRow: `longest` is in 2^10 ticks and `longest_at` in 2^22 ticks since
/// ProfileLog::origin, both saturated; `blame` in 2^-8 ticks.
inline constexpr unsigned kProfileLongestShift = 10;
inline constexpr unsigned kProfileMomentShift = 22;
inline constexpr unsigned kProfileBlameShift = 8;

/// A row. What identifies it comes first. Its number is its place in the table; parents, and rows
/// in `place`, have smaller numbers. Each word is stored as a whole.
struct ProfileRow {
  uint64_t place;   ///< ProfilePlace says what
  uint32_t parent;  ///< a row: ProfileGroup says which
  uint16_t detail;  ///< profile_rows.def says what
  ProfileKind kind;
  uint8_t unused;
  uint64_t visits;
  uint64_t ticks;
  uint64_t amount;      ///< of events: bytes sent, received, read and written; of others: see there
  uint64_t waits;       ///< ticks in which the event only waited, as far as its log shows
  uint64_t blame;       ///< what others waited for it
  uint32_t longest;     ///< the longest visit
  uint32_t longest_at;  ///< when it ended
};
static_assert(sizeof(ProfileRow) == 64);

/// Time by state over the run, in constant memory: when a time lies beyond the last bucket,
/// neighbours are added up, and all are twice as wide.
struct ProfileSeries {
  static constexpr unsigned kBuckets = 256;
  static constexpr unsigned kFirstShift = 24;  ///< 2^24 ticks: some milliseconds
  uint64_t shift;  ///< a bucket is 2^shift ticks; the first one begins at ProfileLog::origin
  uint64_t ticks[kBuckets][kProfileStates];
};

/// The longest iterations that the program named, longest first.
struct ProfileIteration {
  uint32_t row;  ///< of the iteration
  uint32_t unused;
  uint64_t number;  ///< as the program numbers it
  uint64_t begin;   ///< ticks
  uint64_t ticks;   ///< 0: there is none
};
inline constexpr unsigned kProfileIterations = 16;

/// A log's region. Offsets are in bytes from its begin.
struct ProfileLog {
  uint32_t magic;
  uint32_t log;      ///< number of the log
  uint64_t bytes;    ///< of the region
  uint64_t version;  ///< odd while the region changes
  uint64_t origin;   ///< ticks: RawProcess::start_ticks
  uint64_t rows_at;  ///< offset of the first ProfileRow
  uint32_t row_capacity;
  uint32_t row_count;  ///< stored last when a row is added
  uint64_t begin;      ///< ticks of the first record; 0: there is none
  uint64_t until;      ///< ticks: the rows have all until then
  uint64_t records;    ///< that were folded; moments noted in others count as well
  uint64_t samples;    ///< expirations of the sampling timer
  uint64_t joins;      ///< how often small rows joined others because the region was full
  uint64_t cut_paths;  ///< frames that found no room: what happened there counts at their caller
  uint64_t cut_rows;  ///< events, stretches and samples that found no room: they count at the event
                      ///< around them
  uint64_t cut_depth;        ///< events that began where as many were open as can be followed
  uint64_t unpaired;         ///< ends of events whose begin is not known
  uint64_t on_core_ns;       ///< of the thread, as `cpu_time` last had it; 0: unknown
  uint64_t without_core_ns;  ///< likewise
  uint64_t sampling_ns;      ///< as `sampling_period` last had it; 0: the process's
  uint32_t now_row;          ///< the innermost event that is open, or the root
  ProfileState now_state;    ///< of the thread since `until`
  uint8_t unused[3];
  ProfileIteration iterations[kProfileIterations];
  ProfileSeries series;
};
static_assert(sizeof(ProfileLog) % sizeof(uint64_t) == 0);

/// The rows of a region that is mapped or copied as a whole.
inline const ProfileRow* rows_of(const ProfileLog& region) {
  return reinterpret_cast<const ProfileRow*>(reinterpret_cast<const unsigned char*>(&region) +
                                             region.rows_at);
}

}  // namespace culprit::trace
