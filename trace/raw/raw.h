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
//   events.<n>       the records of thread n, n = 0 for the thread that loaded the collector
//   events.<n>.tail  its newest records: one window and a RawTail, mapped
//                    (absent once the thread ended)
//   maps.<n>         copies of /proc/self/maps, the last one the most complete; each ends in a line
//                    "# " and the FNV-1a of what stands before, in hex
// and beside them `heartbeat` (RawHeartbeat), and marks by which the nodes of a job meet
// (collector/mpi/clock_sync.h).
//
// A thread's log is a sequence of records; each is a RawHeader of 16 bytes followed by `words` * 8
// bytes. It comes in windows (kRawWindow, or a smaller power of two: the tail's file tells); a
// record never crosses the end of a window: the rest is
// filled with one or two `pad` records. A log ends at its first `none`, or where its file does.
// Records are stored into the tail, always the same memory, since faulting in fresh pages of a file
// costs more than everything else together; a full window is appended to events.<n> and the tail
// starts again from zero. Each window ends in a `seal` record, in its last 24 bytes, which holds a
// checksum of the window (trace/raw/seal.h), and so does the log of a thread that ended. Of the
// tail RawTail holds one that is renewed with every record, for what lies before the newest record
// if that may still grow. So a reader knows what is damaged, though not what the program was about
// to write when it was killed: at most one record. So a log is events.<n> up to RawTail::window
// windows, then the tail; but if events.<n> is longer than that by a window or more, the process
// died after appending this very window, and the tail does not count. A writer stores payload and
// time first and `kind` last, so a record counts only once its kind is not 0 (`none`), and a log
// can be read at any moment. Times are ticks of the process's clock (RawProcess::clock), the same
// for all processes of a node. Within one file times do not decrease, but for the overdue ends of
// OpenMP (see implicit_end).
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::trace {

inline constexpr uint32_t kRawMagic = 0x4c554331;  // "1CUL"
inline constexpr uint32_t kRawVersion = 6;
inline constexpr size_t kRawWindow = size_t{1} << 20;

enum class RawKind : uint8_t {
  none = 0,
  pad = 1,   ///< `words` alone counts; skip
  seal = 4,  ///< ends a window, or the log of a thread that ended. flags: kRawEndOfLog if a log's
             ///< end; arg: bytes of its window before it; w0: RawTail::seal of them

  // Definitions, local to this file, written before their first use.
  path_def = 2,    ///< arg: new path id (1, 2, ...); w0: parent path id (0 = root); w1: return
                   ///< address. Always one past an instruction of the frame: look up w1 - 1 (a
                   ///< sample's innermost pc too)
  string_def = 3,  ///< arg: new string id; flags: length in bytes; words: the bytes, zero padded

  // MPI. A call: enter ... facts ... leave. `flags` of enter and leave: string id of its name.
  mpi_enter = 10,  ///< arg: path id of the caller (0 = unknown)
  mpi_leave = 11,
  mpi_send = 12,        ///< arg: comm; w0: peer | tag << 32 (both as int32); w1: bytes
  mpi_recv = 13,        ///< as mpi_send; flags: RawMatching; w2: its number unless in_order
  mpi_isend = 14,       ///< as mpi_send; w2: request; flags: RawMatching; w3: its number likewise;
                        ///< the last word: its handle, 0 if unknown (mpi_awaits names it)
  mpi_isend_done = 15,  ///< w0: request
  mpi_irecv_post = 16,  ///< arg: comm; w0: request; w1: the source and tag asked for, as mpi_send,
                        ///< with kRawAny for any; w2: its handle likewise
  mpi_irecv = 17,       ///< as mpi_send; w2: request; flags: RawMatching; w3: its number likewise
  mpi_tests = 18,  ///< coalesced unsuccessful tests and probes. time: enter of the first; arg: path
                   ///< id of its caller; flags: name; w0: leave of the last; w1: count; w2: ticks
                   ///< spent inside them (less than w0 - time if the program worked in between).
                   ///< Then two words for each other function that asked meanwhile: name | path id
                   ///< << 32, and its part of w2. Extended in place.
  mpi_cancelled = 19,  ///< w0: request
  mpi_collective =
      20,  ///< flags: trace::CollectiveOp; arg: comm; w0: root or ~0; w1: sent; w2: received.
           ///< Inter-communicators: root is a rank of the remote group; at the root itself (and
           ///< only there) its rank in its own group, with bit 32 set; ~0 at its neighbours.
           ///< w3, if there: rank set sent to | rank set received from << 32, 0 where the
           ///< operation's kind says it all (mpi_rank_set)
  mpi_icoll_post = 21,  ///< arg: comm; flags: trace::CollectiveOp; w0: request; w1: its handle
                        ///< likewise
  mpi_icoll = 22,       ///< as mpi_collective; w3: request; w4, if there: as mpi_collective's w3
  mpi_comm_def = 23,   ///< arg: new comm (>= 2); flags: RawCommOrigin; w0: parent comm | (number of
                       ///< members << 32); w1: number of remote members; words: world ranks as
                       ///< uint32, two a word, members then remote. With kRawParentRank: a process
                       ///< of another world, by its place in the parent (members, then remote);
                       ///< ~0: of unknown world. More than 506 ranks go on in mpi_comm_more
  mpi_comm_free = 24,  ///< arg: comm
  mpi_init_done = 25,  ///< MPI became usable on this process (rank and size are in RawProcess)
  mpi_finalized = 26,
  mpi_comm_more = 27,  ///< arg: comm; directly after its mpi_comm_def: the next ranks of its list;
                       ///< w0: how many; words: as there
  mpi_rank_set = 28,  ///< arg: new set of ranks, a number that is unique in the process; w0: number
                      ///< of its pairs of words, of which these and maybe more (mpi_rank_set_more)
                      ///< follow: index i, and a bit for each of the ranks from 64 * i on
  mpi_rank_set_more = 29,  ///< arg: set; w0: as there; words: the next pairs
  mpi_probe = 30,          ///< a message was found; as mpi_send; w2: 0, or a matched probe's number
  mpi_part_init = 31,  ///< one side of partitioned communication is made; as mpi_send, bytes of all
                       ///< partitions; flags: 1 if it sends; w2: number of its own
  mpi_part_ready = 32,  ///< w0: request. The last partition was handed over (MPI_Pready)
  mpi_awaits = 33,      ///< directly after its mpi_enter: what must happen before the call can
                        ///< return. flags: RawAwaits, which says what arg and the words are. Taken
                        ///< back when the call returns, unless other records have followed: it
                        ///< counts for calls that did not return
  mpi_comm_link = 36,   ///< arg: comm; directly after its definition, where more is known of how it
                       ///< came to be; flags: RawCommLink; w0: what all who made it passed (a tag),
                       ///< or both roots (a port): a hash, 0 unless known; w1: when the call was
                       ///< entered; w2: the root's rank in the local group, or ~0

  // OpenMP, from OMPT. `region` is a number of ours, unique in the process, from 1.
  omp_thread_begin = 40,  ///< flags: ompt_thread_t
  omp_thread_end = 41,
  omp_parallel_begin =
      42,  ///< arg: path id of the fork; w0: region; w1: codeptr; w2: ticks until the implicit
           ///< task of a team of one began, 0 unless that came next and fits: then it has no record
           ///< of its own; set in place. flags: 1 if a league (teams)
  omp_parallel_end =
      43,  ///< w0: region. The implicit task of the thread that forked has ended, too
  omp_implicit_begin = 44,  ///< w0: region; w1: team size | index << 32
  omp_implicit_end = 45,  ///< w0: region. On workers it comes when the next region starts (overdue)
  omp_work_begin = 46,    ///< flags: ompt_work_t; w0: codeptr; w1: iterations, sections or tasks
  omp_work_end = 47,      ///< flags: ompt_work_t; w0: chunks that this thread got; w1: their
                          ///< iterations; both 0 where the runtime tells of no chunks
  omp_sync_begin = 48,    ///< flags: ompt_sync_region_t; w0: codeptr; w1: region
  omp_sync_end = 49,    ///< flags: ompt_sync_region_t, with kRawTakenBack: the thread did not come
                        ///< there after all; w1: region. Overdue as implicit_end
  omp_wait_begin = 50,  ///< sync_region_wait; as omp_sync_begin
  omp_wait_end = 51,
  omp_mutex_acquire = 52,   ///< flags: ompt_mutex_t; w0: wait id; w1: codeptr; w2: ticks until it
                            ///< was acquired | until it was released << 32, each 0 unless it came
                            ///< next and fits: then it has no record of its own. Set in place
  omp_mutex_acquired = 53,  ///< flags: ompt_mutex_t; w0: wait id; w1: codeptr
  omp_mutex_released = 54,  ///< flags: ompt_mutex_t; w0: wait id; w1: codeptr
  omp_task_create = 55,     ///< arg: ompt_task_flag_t; w0: task; w1: codeptr. A task's number: its
                            ///< creator (any number, one for each thread that creates tasks) << 40
                            ///< | how many that one has created
  omp_task_switch = 56,     ///< w0: task now running (0 = implicit); w1: task left; flags:
                            ///< ompt_task_status_t of the one left
  omp_masked_begin = 57,    ///< w0: codeptr
  omp_masked_end = 58,
  omp_task_depends = 59,    ///< w0: task; then pairs: address, ompt_dependence_type_t. Long lists
                            ///< take several records
  omp_task_edge = 60,       ///< w0: task that must end first; w1: task that waits for it
  omp_task_fulfilled = 61,  ///< w0: task; flags: ompt_task_status_t (early_fulfill, late_fulfill,
                            ///< taskwait_complete): it ends without being left
  omp_nest_lock = 62,  ///< one more set or unset by the holder. flags: ompt_scope_endpoint_t; w0:
                       ///< wait id; w1: codeptr
  omp_lock_init = 63,  ///< flags: ompt_mutex_t; w0: wait id; w1: codeptr
  omp_lock_destroy = 64,     ///< as omp_lock_init
  omp_cancel = 65,           ///< flags: ompt_cancel_flag_t; w0: codeptr
  omp_reduction_begin = 66,  ///< w0: codeptr
  omp_reduction_end = 67,
  omp_target_begin = 68,  ///< on the host. flags: RawTarget << 8 | its OMPT code; arg: device; w0:
                          ///< codeptr; w1: bytes (operation on data), teams (submit)
  omp_target_end = 69,    ///< flags: as its begin

  // Of any thread.
  sample = 70,  ///< arg: path id; the thread is found there on a timer; flags: expirations missed
                ///< since the last
  tool_begin = 71,  ///< the collector itself needs noticeable time (new window, maps copied)
  tool_end = 72,
  process_end = 73,  ///< the process exits in order; on the thread that does it

  // What the program itself tells (include/culprit.h), and functions compiled with
  // -finstrument-functions.
  user_enter = 74,  ///< arg: path id of the caller; flags: name; w0: RawUserRegion; w1: number of
                    ///< the iteration
  user_leave = 75,  ///< arg: RawUserRegion; flags: name
  func_enter = 76,  ///< arg: low half of its frame's address; w0: the function's address; w1:
                    ///< return address into its caller
  func_leave = 77,  ///< w0: the function's address. Missing after longjmp, and after exceptions in
                    ///< clang's programs
  recording_off = 78,  ///< of all threads of the process, from tick w0 on (0: from its start).
                       ///< Until recording_on only kinds that is_kept_when_off() names are recorded
  recording_on = 79,   ///< from tick w0 on

  // Counters. The texts of a definition are two strings, each ended by a zero.
  counter_def = 80,  ///< arg: number of the counter in this file (0, 1, ...); w0: 1 if its values
                     ///< are heights, not counts; flags: bytes of the texts: name, unit
  counter_refused = 81,  ///< a counter that was asked for; flags, from w1: its name, why it is not
                         ///< counted (once in a process)
  blocked =
      83,      ///< the thread slept, or waited for something outside of MPI and OpenMP, in a
               ///< call. time: when it began; arg: path id of the caller; flags: name of the
               ///< call, 0 if it is the caller's own wish to sleep; w0: when it ended; w1, if
               ///< there and not 0: for what, as `woke` has it; w2, if there: when it began, since
               ///< records between (samples) are later. One that lasts no time begins a thread
  woke = 102,  ///< other threads of the process that wait for something may go on from here. arg:
               ///< path id of the caller; w0: for what: the address of a mutex, condition
               ///< variable, ..., what pthread_self() is in a thread that ends, or a number for
               ///< one that begins
  sampling_period = 84,  ///< w0: nanoseconds of CPU time between this thread's samples from now on,
                         ///< because they cost too much, or no longer do
  counters = 82,  ///< words: the thread's values of all its counters by number; belongs to the
                  ///< record that follows, whose time it bears

  // One-sided communication. A window is a number of ours, unique in the process, from 1. Targets
  // are ranks in its communicator; ~0: all of them.
  rma_win_def = 85,   ///< arg: new window; flags: RawWinFlavor; w0: comm. Also: all created it
  rma_win_free = 86,  ///< arg: window. Also: all freed it
  rma_op = 87,        ///< arg: window; flags: trace::RmaOp; w0: target; w1: sent; w2: received; w3:
                      ///< request, if it has one
  rma_op_done = 88,   ///< arg: window; w0: request. The origin's buffers are free
  rma_fence = 89,     ///< arg: window; flags: trace::RmaAssertions
  rma_epoch = 90,  ///< arg: window; flags: trace::RmaEpoch | RmaAssertions << 4, bit 15: the list
                   ///< of ranks goes on in the next such record; w0: ranks in this one (none at
                   ///< ends of epochs); words: as uint32, two a word
  rma_lock = 91,   ///< arg: window; flags: RawRmaLock | RmaAssertions << 4; w0: target
  rma_sync = 92,   ///< arg: window; flags: trace::RmaSyncKind; w0: target

  // Files of MPI. A file is a number of ours, unique in the process, from 1.
  file_def = 93,    ///< arg: new file; flags: trace::FileAccess; w0: comm | bytes of its name <<
                    ///< 32; words: the name, zero padded. Also: all of comm opened it
  file_close = 94,  ///< arg: file. Also: all closed it
  file_op = 95,     ///< arg: file; flags: raw_file_op; w0: bytes; w1: request, if it has one
  file_op_issued = 96,  ///< arg: file; w0: request, if it has one: the call that began it is over
  file_op_done = 97,    ///< arg: file; flags as begun; w0: bytes; w1: request, if it has one
  thread_begun = 98,    ///< the first of a thread that the program made by itself. flags: 0,
                        ///< kRawPoolThread or kRawNestedThread; time: when it began; w0: address of
                        ///< the function that it runs
  thread_ended = 99,    ///< and its last, if it ended before the process. flags as begun
  cpu_time = 101,   ///< of the thread, since it began: w0: nanoseconds on a core; w1: nanoseconds
                    ///< in which it could run and had none
  clock_met = 100,  ///< the clocks of two nodes compared. arg: world rank of the other process; w0:
                    ///< own ticks half way between asking and answer; w1: the other's ticks when it
                    ///< answered; w2: own ticks between asking and answer

  // Devices. What host threads do, in their own logs. A call: enter ... facts ... leave.
  device_enter = 110,   ///< arg: path id of the caller; flags: name
  device_leave = 111,   ///< flags: name
  device_launch = 112,  ///< the call handed over an operation. flags: trace::DeviceOpKind; arg: its
                        ///< queue (~0: none); w0: its number, unique in the process
  device_after = 113,  ///< what the operation just told waits for besides its queue's order: words:
                       ///< numbers of operations. Long lists take several records
  device_wait = 114,   ///< the call waited. flags: trace::DeviceWaitFor; arg: queue or device; w0:
                       ///< operation; or the call's own number, if a device_point says for what

  // What devices did, in a log of no thread, in whatever order it becomes known. Its string_defs
  // have numbers of their own, with 32 bits.
  device_def = 120,  ///< arg: new device, a number unique in the process; flags: RawDeviceApi; w0:
                     ///< bytes of its name | bytes of what tells it apart on its node << 32; words:
                     ///< both, zero padded at the end
  device_queue_def = 121,  ///< arg: new queue, likewise; flags: 1: operations may overtake each
                           ///< other; w0: device | context << 32; w1: its number as users know it
  device_op = 122,  ///< arg: queue; flags: raw_device_op; w0: number; w1, w2: begin and end in
                    ///< nanoseconds of the device's clock, 0 if unknown; w3: string id of its name
                    ///< (0: none) | graph's node << 32; w4: bytes; w5, w6: when it was queued and
                    ///< handed to the device, 0 if unknown
  device_clock = 123,  ///< arg: device; w0: nanoseconds of its clock; it was then between w1 and
                       ///< w2, in ticks
  device_lost = 124,   ///< flags: RawDeviceLoss; w0: how often
  device_point = 126,  ///< what takes no time on the device, or the host's waits as the runtime
                       ///< tells of them. flags: RawDevicePoint; arg: queue, or device; w0: number;
                       ///< w1: event; w2: which recording of the event, 0 if not told
  device_overhead = 127,  ///< w0: nanoseconds that the runtime itself spent on tools
  device_runtime = 125,   ///< flags: RawDeviceApi | RawDeviceRefusal << 8; words: what it says of
                          ///< itself, zero padded
};

/// What a user_enter begins.
enum class RawUserRegion : uint8_t { region = 0, phase = 1, iteration = 2 };

/// Others need them to be understood: who sent what to whom, in which communicators. Enters and
/// leaves of MPI then only say that what lies between them is one call. Definitions serve what
/// comes after the pause.
constexpr bool is_kept_when_off(RawKind kind) {
  const auto number = static_cast<unsigned>(kind);
  if (kind == RawKind::mpi_tests) return false;
  if (kind == RawKind::recording_off || kind == RawKind::recording_on) return true;
  if (kind >= RawKind::device_enter && kind < RawKind::device_def) return false;
  if (kind == RawKind::cpu_time) return false;
  return number < 40 || (number >= 71 && number <= 73) || kind == RawKind::counter_def ||
         kind == RawKind::counter_refused || number >= 85;
}

enum class RawWinFlavor : uint16_t { create = 0, allocate = 1, shared = 2, dynamic = 3 };

enum class RawRmaLock : uint16_t { release = 0, shared = 1, exclusive = 2 };
/// omp_sync_end, omp_wait_end: there was nothing to wait for, and no begin.
inline constexpr uint16_t kRawTakenBack = 0x8000;

/// thread_begun, thread_ended: no thread of the program's own, but of an OpenMP runtime's pool; or
/// made by it for one nested team only.
inline constexpr uint16_t kRawPoolThread = 1;
inline constexpr uint16_t kRawNestedThread = 2;

/// omp_implicit_begin: w1 of a team of one.
inline constexpr uint64_t kRawTeamOfOne = 1;

inline constexpr uint16_t kRawRmaAssertionsShift = 4;
inline constexpr uint16_t kRawRmaMoreRanks = 0x8000;
inline constexpr uint64_t kRawAllTargets = ~uint64_t{0};

/// A set.
namespace raw_file_op {
inline constexpr uint16_t kWrite = 1;  ///< else a read
inline constexpr uint16_t kFlush = 2;  ///< neither
inline constexpr uint16_t kCollective = 4;
inline constexpr uint16_t kRequest = 8;  ///< non-blocking
inline constexpr uint16_t kSplit = 16;   ///< a split collective: its end is another call
}  // namespace raw_file_op

enum class RawDeviceApi : uint16_t { cuda = 0, opencl = 1 };
/// Numbers of devices and queues begin with their runtime, so that they are unique in the process.
inline constexpr unsigned kRawDeviceApiShift = 24;

/// Why a device runtime is not observed.
enum class RawDeviceRefusal : uint16_t {
  none = 0,
  other_tool = 1,  ///< another tool has taken the one place there is
  no_tools = 2,    ///< the library through which tools see it is missing, or too old
  failed = 3,      ///< it refuses tools; the words say how
};

enum class RawDevicePoint : uint16_t {
  event_recorded = 0,
  queue_waits_for_event = 1,
  host_waits_for_event = 2,
  host_waits_for_queue = 3,
  host_waits_for_device = 4,
};

enum class RawDeviceLoss : uint16_t {
  unfinished = 0,  ///< operations that had not ended when the process did, or ended with an error
  no_times = 1,    ///< operations whose times the runtime did not tell
  no_room = 2,     ///< operations that were not followed, because too many were under way
  dropped = 3,     ///< records that the runtime says it has lost
  hung_flush = 4,  ///< the runtime did not give back its last records in time
};

/// flags of device_op: the kind in the lowest byte.
namespace raw_device_op {
inline constexpr unsigned kDirectionShift = 8;  ///< trace::CopyDirection, 4 bits
inline constexpr unsigned kMemoryShift = 12;    ///< trace::HostMemory, 4 bits
}  // namespace raw_device_op
/// The number, as users know it, of a queue that stands for pages moved on demand.
inline constexpr uint64_t kRawMigrations = 0xfffffffe;
inline constexpr uint32_t kRawNoQueue = ~uint32_t{0};

/// How a communicator came to be: decides how the assembler recognises it on other ranks.
enum class RawCommOrigin : uint16_t {
  collective = 0,  ///< all of the parent called (dup, split, create, cart_create, ...)
  group_only = 1,  ///< only the members called (create_group)
  intercomm = 2,   ///< MPI_Intercomm_create and the like
  spawned = 3,     ///< dynamic processes
};

/// What joined the processes of a communicator, where its origin does not tell.
enum class RawCommLink : uint16_t {
  none = 0,
  tag = 1,        ///< within one world: the tag tells communicators of the same members apart
  intercomm = 2,  ///< MPI_Intercomm_create, MPI_Intercomm_create_from_groups
  spawn = 3,      ///< at the spawning side
  parent = 4,     ///< at the spawned side; made by MPI_Init
  accept = 5,
  connect = 6,
  join = 7,
};

/// Flag of a rank in mpi_comm_def.
inline constexpr uint32_t kRawParentRank = 1u << 31;

/// What a host thread does for a device, for omp_target_begin.
enum class RawTarget : uint16_t {
  construct = 0,  ///< ompt_target_t
  data = 1,       ///< ompt_target_data_op_t
  submit = 2,     ///< a kernel is given to the device
};

/// How the two ends of a message find each other.
enum class RawMatching : uint16_t {
  in_order = 0,     ///< in the order in which they are posted
  probed = 1,       ///< a matched probe has found it: the number is the mpi_probe's
  partitioned = 2,  ///< through MPI_Psend_init and MPI_Precv_init: the mpi_part_init's
};

/// What a call of MPI that may have to wait needs in order to return.
enum class RawAwaits : uint16_t {
  message = 0,        ///< to receive or to find one. arg: comm; w0: as mpi_irecv_post's w1
  all_requests = 1,   ///< arg: how many; words: the handles of the first of them
  any_request = 2,    ///< likewise
  collective = 3,     ///< all members (but see mpi_collective, of which arg, w0 and w3 are meant).
                      ///< arg: comm; w0: root; w1: trace::CollectiveOp; w2: rank sets
  window_making = 4,  ///< all members. arg: comm
  file_opening = 5,   ///< likewise
  window = 6,         ///< all members of a window. arg: window
  file = 7,           ///< all that have opened the file. arg: file
  epoch_start = 8,  ///< the targets expose the window. arg: window; words: their ranks in it; none:
                    ///< those of the access epoch at hand
  epoch_wait = 9,   ///< the origins complete their access. arg: window
  partner = 10,     ///< whoever makes the communicator, too
  init = 11,        ///< all of the world
  finalize = 12,
};
/// Any source, any tag.
inline constexpr int32_t kRawAny = INT32_MIN;
/// Handles, or ranks, that one record takes.
inline constexpr unsigned kRawAwaitedAtMost = 96;

/// Communicators that exist without a definition.
inline constexpr uint32_t kRawCommWorld = 0;
inline constexpr uint32_t kRawCommSelf = 1;

struct RawHeader {
  uint64_t time;
  uint32_t arg;
  uint16_t flags;
  uint8_t words;  ///< payload in units of 8 bytes
  RawKind kind;   ///< stored last
};
static_assert(sizeof(RawHeader) == 16);

/// A record that may still change while it is the newest. Whoever changes one in place must have
/// its kind here, and keep signal handlers out meanwhile: all others are sealed at once.
constexpr bool may_grow(RawKind kind) {
  switch (kind) {
    case RawKind::mpi_tests:
    case RawKind::omp_parallel_begin:
    case RawKind::omp_mutex_acquire:
    case RawKind::mpi_awaits:  // taken back
    case RawKind::mpi_isend:   // get their handles
    case RawKind::mpi_irecv_post:
    case RawKind::mpi_icoll_post:
      return true;
    default:
      return false;
  }
}

/// Of mpi_tests: words without other functions, and how many of those there may be.
inline constexpr unsigned kRawTestsWords = 3;
inline constexpr unsigned kRawOtherTests = 3;

/// flags of a seal.
inline constexpr uint16_t kRawEndOfLog = 1;
/// A seal, whole.
inline constexpr size_t kRawSealBytes = sizeof(RawHeader) + sizeof(uint64_t);

/// Follows the window in events.<n>.tail.
struct RawTail {
  uint64_t window;  ///< number of windows before this one
  uint64_t seal;    ///< of the window's records (raw_seal); 0: before the first, and for a moment
                    ///< when one window becomes the next
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
  uint32_t sampling_hz;     ///< rate of the threads' timers; 0: no samples asked for, or SIGURG was
                            ///< the program's
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
  uint64_t on_core_ns;            ///< CPU time of its threads; with the next refreshed at MPI_Init,
                                  ///< MPI_Finalize and exit. 0: the system does not tell
  uint64_t core_wait_ns;          ///< its threads could have run, and had no core
  uint64_t cores[kRawCoreWords];  ///< that any of its threads may use
  uint64_t unwind_ticks;  ///< spent on taking call paths that no thread remembered, and samples
  uint64_t search_ticks;  ///< spent on looking for call paths among those remembered, as found by
                          ///< measuring one search in kRawSearchesPerTiming
  uint64_t searches;      ///< that were timed
  char host[64];
  char boot_id[40];
  char executable[1024];
  char command[2048];     ///< arguments joined with spaces
  char mpi_library[256];  ///< MPI_Get_library_version, first line
  char omp_runtime[128];  ///< what OMPT says of itself
  char job[64];           ///< the launcher's name for the process's MPI job; empty: it gave none
  char parent[64];        ///< who spawned its world: "<job>.<rank>"; "?": unknown; empty: nobody
  uint64_t logs;          ///< whose files were made: so many are there, unless some were removed
  uint64_t maps;          ///< likewise, copies of /proc/self/maps
};
static_assert(sizeof(RawProcess) % sizeof(uint64_t) == 0);

/// What a process's record was at some moment.
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

/// File `raw/heartbeat`: kept by whoever started the program, which learns of its end however it
/// came.
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
