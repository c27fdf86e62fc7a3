// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The raw records that the collector leaves behind and the assembler turns into an OTF2 archive.
// This is the only thing that the two share.
//
// Why not OTF2 in the application: a raw record is one or two stores; it goes into a file mapped
// shared, so what has been recorded survives any death of the program, SIGKILL and MPI_Abort too,
// without handlers, flushes or exit hooks; and nothing needs MPI to unify definitions at the end.
//
// One folder per process, `<experiment>/raw/<host>.<pid>.<start ticks in hex>/`:
//   process          one RawProcessFile, mapped and updated in place
//   events.<n>.packed  the records of thread n (0: the thread that loaded the collector) but for
//                    the newest: full windows, packed (trace/raw/packed.h), from the first on
//   events.<n>.tail  its newest records: one window and a RawTail, mapped (absent once it ended)
//   refused.<n>      empty: there is no `process`, as its file was refused with this errno
//   maps.<n>         copies of /proc/self/maps, the last one the most complete; each ends in a line
//                    "# " and the FNV-1a of what stands before, in hex
// and beside them `heartbeat` (RawHeartbeat), and marks by which the nodes of a job meet
// (collector/mpi/groups/clock_sync.h).
//
// A thread's log is a sequence of records; each is a RawHeader of 16 bytes followed by `words` * 8
// bytes. It comes in windows (kRawWindow, or a smaller power of two: the tail's file tells); a
// record never crosses the end of a window: the rest is
// filled with one or two `pad` records. A log ends at its first `none`, or where its files do.
// Records are stored into the tail, always the same memory, since faulting in fresh pages of a file
// costs more than everything else together; a full window is packed, appended to the other file,
// and the tail starts again from zero. Each window ends in a `seal` record, which holds a checksum
// of the window (trace/raw/seal.h), and so does the log of a thread that ended. Of the
// tail RawTail holds one that is renewed with every record, for what lies before the newest record
// if that may still grow. RawTail also holds what the thread is in at the moment, as records that
// are overwritten by the next of their slot (RawOpen): what a call that never returns was waiting
// for. So a reader knows what is damaged, though not what the program was about
// to write when it was killed: at most one record. So a log is its packed windows, then the tail;
// but if the last block of the tail's window is among the packed ones, the process died after it
// had appended this very window, and the tail does not count. A writer stores payload and
// time first and `kind` last, so a record counts only once its kind is not 0 (`none`), and a log
// can be read at any moment. Times are ticks of the process's clock (RawProcess::clock), the same
// for all processes of a node. Within one file times do not decrease, but for the overdue ends of
// OpenMP (see implicit_end).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "trace/raw/kinds.h"
#include "trace/raw/values.h"

namespace culprit::trace {

inline constexpr uint32_t kRawMagic = 0x4c554331;  // "1CUL"
inline constexpr uint32_t kRawVersion = 11;
inline constexpr size_t kRawWindow = size_t{1} << 20;

struct RawHeader {
  uint64_t time;
  uint32_t arg;
  uint16_t flags;
  uint8_t words;  ///< payload in units of 8 bytes
  RawKind kind;   ///< stored last
};
static_assert(sizeof(RawHeader) == 16);

/// The half of a header that is stored last, in one piece.
constexpr uint64_t raw_second_half(RawKind kind, uint16_t flags, uint32_t arg, unsigned words) {
  return uint64_t{arg} | uint64_t{flags} << 32 | uint64_t{words} << 48 |
         static_cast<uint64_t>(kind) << 56;
}
static_assert(std::endian::native == std::endian::little && offsetof(RawHeader, arg) == 8 &&
              offsetof(RawHeader, kind) == 15);

/// flags of a `seal` record.
inline constexpr uint16_t kRawEndOfLog = 1;
/// Size of a whole `seal` record.
inline constexpr size_t kRawSealBytes = sizeof(RawHeader) + sizeof(uint64_t);

/// The number of a file without a known name that was read or written.
inline constexpr uint64_t kRawNamelessFile = ~uint64_t{0};

/// A thread's open states, by their source. Each slot has one record at a time, and none while the
/// thread is in no such state.
enum class RawSlot : unsigned {
  call = 0,  ///< a call of MPI: what it needs in order to return
  wait = 1,  ///< a wait for another thread, outside of any runtime
};
inline constexpr unsigned kRawSlots = 2;
inline constexpr unsigned kRawOpenWords = 96;

/// A record that is true while it is in its slot. Its writer clears `kind`, stores all other
/// fields, and `kind` last, as in a log; it has no checksum, and a reader that sees it change
/// ignores it.
struct RawOpen {
  RawHeader header;  ///< kind `none`: nothing is open
  uint64_t words[kRawOpenWords];
};

/// Follows the window in events.<n>.tail.
struct RawTail {
  uint64_t window;  ///< number of windows before this one
  uint64_t seal;    ///< of the window's records (raw_seal); 0: before the first, and for a moment
                    ///< when one window becomes the next
  RawOpen open[kRawSlots];
  uint64_t kept;  ///< 0: the file has all windows before this one; else 1 more than the number of
                  ///< windows that it has, and ever will (trace/raw/bursts.h)
};

enum class RawClock : uint32_t { tsc = 0, monotonic_ns = 1 };

/// A moment read on both clocks, for turning ticks into nanoseconds.
struct RawClockPair {
  uint64_t ticks;
  uint64_t realtime_ns;   ///< CLOCK_REALTIME
  uint64_t monotonic_ns;  ///< CLOCK_MONOTONIC
};

inline constexpr uint32_t kRawSearchesPerTiming = 64;

enum class RawDeclined : uint32_t {
  no = 0,
  other_tool = 1,  ///< the user has another OMPT tool, and there can be only one
  disabled = 2,    ///< OMP_TOOL=disabled
};

/// Room for the set of cores that a process may use: bit c % 64 of word c / 64.
inline constexpr unsigned kRawCoreWords = 64;

/// Bits of RawProcess::thinned.
inline constexpr uint64_t kRawThinnedTests = 1, kRawThinnedBursts = 2;

/// Fixed layout, updated in place, valid at any moment.
struct RawProcess {
  uint32_t magic;
  uint32_t version;
  uint32_t pid;
  uint32_t thread_count;  ///< numbers given to logs so far
  RawClock clock;
  int32_t world_rank;         ///< -1: MPI not initialised
  int32_t world_size;         ///< -1: likewise
  uint32_t thread_level;      ///< MPI_THREAD_* as 0..3
  uint32_t finalized;         ///< 1 once MPI_Finalize has returned
  uint32_t ended;             ///< 1 once the process exits in order
  uint32_t stopped_at_limit;  ///< 1: it wrote as much as it may, and recorded no more from
                              ///< end_ticks on
  uint32_t gomp_redirected;   ///< 1: a program built for libgomp runs on libomp; 2: it does not, as
                              ///< it needs what libomp lacks; 3: it does not, and is observed there
  RawDeclined declined;       ///< why OpenMP is not observed, although its runtime has OMPT
  char gomp_lacking[60];      ///< gomp_redirected 2: what libomp lacks, by its name in libgomp
  uint32_t event_cost_ps;     ///< calibrated cost of one record, picoseconds
  uint32_t path_cost_ps;      ///< of one remembered call path
  uint32_t starts_off;        ///< 1: recording is off until the first recording_on
  uint32_t sampling_hz;     ///< rate of the threads' timers; 0: no samples asked for, or none taken
  uint64_t start_ticks;     ///< when the collector was loaded
  uint64_t end_ticks;       ///< when the process exited in order or recording stopped, else 0
  uint64_t time_namespace;  ///< its inode; CLOCK_MONOTONIC differs between time namespaces
  RawClockPair first;       ///< at load
  RawClockPair last;  ///< refreshed at MPI_Init, by samples, at windows, MPI_Finalize and exit
  uint64_t last_sum;  ///< raw_sum of it
  uint64_t dropped_records;       ///< could not be written (disk full, limit)
  uint64_t skipped_callbacks;     ///< arrived inside the collector, or on a thread whose log has
                                  ///< ended; or received a message whose probe was not recorded
  uint64_t failed_unwinds;        ///< call paths that could not be taken
  uint64_t forgotten_paths;       ///< times that a thread forgot its call paths for want of memory
  uint64_t failed_counters;       ///< threads whose counters could no longer be read
  uint64_t slowed_samplers;       ///< threads whose samples cost too much at the rate asked for
  uint64_t nvtx_ranges;           ///< started, and not pushed: they need not nest on a thread
  uint64_t nvtx_marks;            ///< moments that the program named
  uint64_t refused_probes;        ///< libraries of another culprit, which were refused
  uint64_t on_core_ns;            ///< CPU time of its threads; with the next refreshed about once a
                                  ///< second, and at exit. 0: the system does not tell
  uint64_t core_wait_ns;          ///< its threads could have run, and had no core
  uint64_t cores[kRawCoreWords];  ///< that any of its threads may use
  uint64_t unwind_ticks;  ///< spent on taking call paths that no thread remembered, and samples
  uint64_t search_ticks;  ///< spent on looking for call paths among those remembered, as found by
                          ///< measuring one search in kRawSearchesPerTiming
  uint64_t searches;      ///< that were timed
  char host[64];
  char boot_id[40];
  char executable[1024];
  char command[2016];           ///< arguments joined with spaces
  uint64_t sampling_signal;     ///< the signal that samples use now; 0: none
  uint64_t samples_begun;       ///< threads that are inside a sample: at the end it is to be 0
  uint64_t displaced_samplers;  ///< 1: another runtime has put its handler in the place of ours, so
                                ///< no samples were taken from then on
  uint64_t
      confined_samplers;  ///< 1: the program forbade system calls that a sample makes; likewise
  char mpi_library[256];  ///< MPI_Get_library_version, first line
  char omp_runtime[128];  ///< what OMPT says of itself
  char job[64];           ///< the launcher's name for the process's MPI job; empty: it gave none
  char parent[64];        ///< the process that spawned its world: "<job>.<rank>"; "?": unknown;
                          ///< empty: none
  uint64_t
      written_behind;  ///< errno with which mapping a file was refused: the newest records lie in
                       ///< memory, and are written every few KiB and at the end; 0: none was
  uint64_t logs;       ///< number of logs whose files were made: all of them exist, unless some
                       ///< were removed
  uint64_t maps;       ///< likewise, copies of /proc/self/maps
  uint64_t node;       ///< RawNodePage of its node is raw/bursts/<host>.<node in hex>/page; 0: none
  uint64_t whole_end;  ///< RawNodePage::whole_end, as this process has seen it
  uint64_t fold_ticks;        ///< spent on folding records
  uint64_t burst_ticks;       ///< spent on keeping definitions and the records of bursts
  uint64_t largest_overhead;  ///< the largest part of a second that a thread spent on the
                              ///< collector, in millionths, samples apart
  uint64_t thinned;           ///< kRawThinned...: what was left out because of it
};
static_assert(sizeof(RawProcess) % sizeof(uint64_t) == 0);

/// A process's record at some moment.
struct RawSnapshot {
  RawProcess process;
  uint64_t number;  ///< 1, 2, ...: the greater is the newer
  uint64_t sum;     ///< raw_sum of all before; 0: being written, or never
};

/// File `process`. The snapshots are made in turn: one of them is whole at any moment. The last one
/// of a process that ended in order tells all; of one that was killed, what counts only grows later
/// is in `now`.
struct RawProcessFile {
  RawProcess now;
  RawSnapshot snapshots[2];
};

/// File `raw/heartbeat`: kept by the culprit that started the program, which notices its end
/// however it came.
inline constexpr const char* kRawHeartbeatFile = "heartbeat";
struct RawHeartbeat {
  uint32_t magic;
  uint32_t version;
  uint32_t ended;  ///< 1: the program ended then; 0: it was running
  uint32_t unused;
  uint64_t realtime_ns;
  uint64_t monotonic_ns;
  char boot_id[40];
};

}  // namespace culprit::trace
