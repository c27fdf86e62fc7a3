// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of one-sided communication, as events. The operations of a thread complete where that
// thread synchronises: all that it has under way with a target share one id, unless they have a
// request.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "assemble/play/thread_state.h"
#include "assemble/run/comms/epoch_ranks.h"

namespace culprit::assemble {

class OneSidedRecords {
 public:
  explicit OneSidedRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);

 private:
  struct UnderWay {
    uint32_t target = 0;
    trace::RmaOpId id{};
    bool done_here = false;
  };
  struct WindowState {
    GroupId accessed;  ///< of the epoch begun last
    GroupId exposed;
    std::map<uint32_t, trace::RmaOpId> open;  ///< by target
    std::vector<UnderWay> special;            ///< with a request, or complete at the origin only
  };

  bool names_ranks(const RawRecord& record, WindowId window) const;
  void window_made(Time time, WindowId window);
  void window_freed(Time time, WindowId window);
  void operation(const raw::rma_op& begun, Time time, WindowId window);
  void operation_done(const raw::rma_op_done& done, Time time, WindowId window);
  void fence(const raw::rma_fence& met, Time time, WindowId window);
  void epoch(const raw::rma_epoch& epoch, Time time, WindowId window);
  void lock(const raw::rma_lock& told, Time time, WindowId window);
  void sync(const raw::rma_sync& told, Time time, WindowId window);

  /// Completes operations under way with `target` (none: with all), at the origin and, if `remote`,
  /// at the target.
  void complete(Time time, WindowId window, std::optional<uint32_t> target, bool remote);
  WindowId window_of(const RawRecord& record);
  trace::EventSink& sink() { return state_.timeline.sink(); }

  ThreadState& state_;
  std::unordered_map<WindowId, WindowState> windows_;
  EpochRanks ranks_;
  uint64_t ids_ = 0;
};

}  // namespace culprit::assemble
