// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The text form of a trace, in which tests draw time lines:
//
//     ours                          optional: as an archive that culprit has written
//     unit 1s                       one character is one second (ms, us, ns and fractions work too)
//     regions
//       c comp                      a letter is a call path; '.' is outside of everything
//       S main/MPI_Send
//       R main/MPI_Recv
//     lanes
//       0.0 |ccccccSmm              rank.thread; one visit is a stretch of one letter, so two
//       1.0 |cccRRRRmm              visits of one path next to each other take two letters for it
//       2.0 b |ccc                  of a process on the node `b`
//     comms
//       1: 0 2                      world ranks of communicator 1 (0 is the world, always there)
//       2: 0 1 | 2 3                an inter-communicator
//     grids
//       0: 2 3 periodic               sizes of the Cartesian dimensions of a communicator, whose
//                                   ranks stand in it row by row; `periodic`: all of them
//     events
//       send 0.0@6 -> 1.0@3         calls are named by lane and the time they begin
//       isend 0.0@6 wait 8 -> irecv 1.0@1 wait 3 tag 7 comm 1 bytes 0    (else 8)
//       barrier 0.0@3 1.0@5         any collective of trace::CollectiveOp; `root 0` if it has one
//                                   (its rank in the communicator, in an inter-communicator in the
//                                   world)
//       ibarrier 0.0@3 wait 5 1.0@2 wait 6
//       alltoallv 0.0@3 to 1 from - 1.0@5   with whom data is exchanged; `-` is nobody
//       isend 0.0@1 ready 0.1@5 wait 8 -> irecv 1.0@1 wait 6 pair 1    partitioned; the last
//                                   partition is handed over there. What another thread does, as
//                                   `wait` too, is told with its lane
//       send 0.0@1 -> 1.0@8 probe 4 found by a matched probe
//       fork 0.0@2-8: 0.0 0.1@2-7   the master's fork and join; members, with times if they differ
//       probe 1.0@3 from 0.0        found a message; `tag`, `comm`. A test, or a probe that finds
//                                   nothing, is a visit of its region with no line here
//       win_fence 0.0@3 1.0@5       one-sided; all take `window 1` (0) and `comm 1`, of the window
//       win_start 0.0@3 with 1,2    and so win_post; `nocheck`. Then win_complete, win_wait
//       put 0.0@4 to 1              or get, accumulate
//       win_lock 0.0@3 to 1 exclusive    without `to`: all. And so win_flush, win_unlock
//       cancel 1.0@1                the receive posted there never completes
//       mutex critical 7 0.1@3-8    acquired and released; the wait for it is the visit that ends
//                                   or goes deeper at 3. Without an end: not released by this
//                                   thread
//       release 7 0.2@9             by a thread that does not hold it
//       await 7 0.0@9               the visit that ends at 9, or goes deeper, waited for object 7
//       wake 7 0.1@8                whoever waits for object 7 may go on
//       begun 7 0.1@3               this thread was made where another woke object 7. All three
//                                   take objects of the whole node as well: `pipe:7`, and so
//                                   socket, opening, event, file_lock, fork, process
//       gone 0.1@8                  its pool ended this thread; `nested`: it was for one team
//       device 0 0.1 0.2 1.1        these lanes are streams of device 0; each is a queue
//       launch 0.0@3 -> 0.1@5       the call there hands over what that stream executes from 5 on:
//                                   `copy`, `fill`, `wait`, `marker`, ... (else a kernel),
//                                   `to_device`, `from_device`, `pageable`, `pinned`, `bytes 8`,
//                                   `after 0.2@1,0.2@9` operations of other streams. Without a
//                                   time: never seen to execute; what lines below call `0.0@3`, as
//                                   in `after 0.0@3`
//       let_go 0.0@4 -> 0.1@5       what the stream executes there waited for this call
//       device_wait 0.0@7 for 0.1   for a queue, an operation (0.1@5; 0.0@3: never seen to
//                                   execute) or `device 0`
//       task 1 create 0.0@3 run 0.1@4-8    a region whose name says so stands where a task runs;
//                                   several runs are its parts, and it ends with the last, or
//                                   where it says, as in `done 0.0@9`. What it depends on: `after
//                                   2,3` or, of data, `in 1 out 2`. Flags: `undeferred`,
//                                   `taskwait`
//     ---
//     whatever follows is kept for the test (its expectations)
//
// `#` begins a comment. Roles and paradigms are taken from names ("MPI_...", "!$omp ...").
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tests/support/text/action.h"
#include "trace/source.h"

namespace culprit::trace {

class TextTrace : public Source {
 public:
  /// Parses a whole picture. The error names the line.
  static Result<std::unique_ptr<TextTrace>> parse(std::string_view picture);

  const Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId location, EventSink& sink, Losses& losses) const override;

  /// Everything after the line `---`.
  const std::string& expectations() const { return expectations_; }
  /// Nanoseconds of one character.
  int64_t unit() const { return unit_; }
  /// Moves all clocks by the same amount (results must not care).
  void shift(Duration by) { shift_ = by; }

 private:
  TextTrace(Definitions definitions, std::vector<std::vector<TextAction>> actions,
            std::string expectations, int64_t unit);

  Definitions definitions_;
  std::vector<std::vector<TextAction>> actions_;  // by LocationId, in time order
  std::string expectations_;
  int64_t unit_;
  Duration shift_;
};

}  // namespace culprit::trace
