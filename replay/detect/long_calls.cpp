// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The operations that a call completes count as its own, since it takes its time for them; the
// operations that it only posts count as well, because small sends are often complete by then. A
// completion of one-sided communication counts all accesses since the last completion.
#include "replay/detect/long_calls.h"

#include <algorithm>

#include "base/merge_runs.h"

namespace culprit::replay {

namespace {

/// Returns 2^width (0 for no digits), one more than the largest number of `width` binary digits.
uint64_t bytes_of(uint8_t width) {
  return width == 0 ? 0 : width < 63 ? uint64_t{1} << width : UINT64_MAX / 2;
}

class LongCalls {
 public:
  LongCalls(const Run& run, LocationId id) : run_(run), id_(id), line_(run.at(id)) {}

  Column<LongCall> collect() {
    for (const Column<MessageOp>* ops : {&line_.sends, &line_.recvs}) {
      for (const MessageOp& op : *ops) add_both(op.posted, op.completed, op.bytes, 2);
    }
    for (const CollectiveOp& op : line_.collectives) {
      if (op.op == trace::CollectiveOp::create_handle) continue;
      const trace::Comm& comm = run_.comm(op.comm);
      const auto members = static_cast<uint32_t>(comm.members.size() + comm.remote.size());
      const uint64_t bytes = std::max(op.bytes_received, bytes_of(op.sent_width));
      add_both(op.posted, op.completed, bytes, members);
    }
    uint64_t asked = 0;
    for (const RmaFact& fact : line_.rma) {
      asked += bytes_of(fact.width);
      add(fact.call, asked, 2);
      const bool completes =
          fact.act == RmaAct::complete || fact.act == RmaAct::flush || fact.act == RmaAct::unlock;
      if (completes) asked = 0;
    }
    return joined();
  }

 private:
  void add_both(CallKey posted, CallKey completed, uint64_t bytes, uint32_t members) {
    const bool own_posted = posted.valid() && posted.is_own();
    const bool own_completed = completed.valid() && completed.is_own();
    if (own_posted) add(posted.call(), bytes, members);
    const bool same = own_posted && own_completed && posted.call() == completed.call();
    if (own_completed && !same) add(completed.call(), bytes, members);
  }

  void add(CallIndex index, uint64_t bytes, uint32_t members) {
    const Call call = run_.call(id_, index);
    if (call.leave - call.enter >= kLongCall) calls_.push_back({call.enter, bytes, members});
  }

  /// Returns each call once, its operations joined.
  Column<LongCall> joined() {
    merge_runs(calls_.begin(), calls_.end(),
               [](const LongCall& a, const LongCall& b) { return a.enter < b.enter; });
    size_t kept = 0;
    for (const LongCall& call : calls_) {
      if (kept > 0 && calls_[kept - 1].enter == call.enter) {
        LongCall& known = calls_[kept - 1];
        known.bytes += std::min(call.bytes, UINT64_MAX - known.bytes);
        known.members = std::max(known.members, call.members);
      } else {
        calls_[kept++] = call;
      }
    }
    calls_.resize(kept);
    return std::move(calls_);
  }

  const Run& run_;
  const LocationId id_;
  const Timeline& line_;
  Column<LongCall> calls_;
};

}  // namespace

Column<LongCall> long_calls_of(const Run& run, LocationId id) {
  return LongCalls(run, id).collect();
}

}  // namespace culprit::replay
