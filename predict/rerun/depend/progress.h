// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Large messages that move only while both sides are in MPI. Many libraries move data when they are
// called, and so a nonblocking send that is not handed over at once goes on when its process waits
// for it; whoever wants the data is in its own call until then, though the message was sent long
// before. The same holds with sides exchanged: a large send is over once its receiver is back, if
// it had asked for the message before there was one.
//
// Whether a run was like that no event tells. It is taken for granted of messages larger than all
// that came without the other side's help, if those who were in their calls when the other side
// came back had been there for four times as long as they stayed afterwards: what a transfer takes
// by itself does not end just when the other side waits for it.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/rerun/dependences.h"
#include "replay/run.h"

namespace culprit::predict {

/// Of all messages one side: the receiving ones, or the sending ones.
class Progress {
 public:
  /// A call in which a message is completed, and the one in which the other side, which had begun
  /// it without waiting, came back to it. `since`: when both had begun.
  void add(LocationId location, const replay::Call& call, Time since, LocationId other,
           const replay::Call& back, const Delivery& delivery);
  void append(Progress&& more);
  void write(Dependences& found) const;

 private:
  struct Candidate {
    LocationId location, other;
    replay::Call call;
    Time since, back;
    Delivery delivery;
    bool was_there() const { return since < back && back < call.leave; }
  };
  bool is_needed() const;

  std::vector<Candidate> candidates_;
  uint64_t unaided_ = 0;  ///< bytes of the largest that was complete before the other was back
};

}  // namespace culprit::predict
