// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parts in collective operations as they are sent to the rank that judges the operations: some
// twenty bytes per part; the parts of one process follow each other.
#pragma once

#include "replay/match/collective_part.h"
#include "replay/model/compact.h"

namespace culprit::replay {

/// A part without its operation and its process, which the receiving rank knows already.
struct RemotePart {
  CollectiveOp op;  ///< without calls
  LocationId posted_by, location;
  Call posted, completed;
};

template <class Code>
void code_part(Code& code, RemotePart& part, const RemotePart& before) {
  code(part.op.root, before.op.root);
  code(part.op.sends_to, before.op.sends_to);
  code(part.op.receives_from, before.op.receives_from);
  code(part.op.op, before.op.op);
  code(part.op.may_wait, before.op.may_wait);
  code(part.op.polled, before.op.polled);
  code(part.posted_by, before.posted_by);
  code(part.location, part.posted_by);
  code_call(code, part.posted, before.posted);
  code_call(code, part.completed, part.posted);
}

class PartWriter {
 public:
  void add(const Part& part) {
    RemotePart next{*part.op, part.posted_by, part.location, part.posted, part.completed};
    code_part(writer_, next, before_);
    before_ = next;
  }
  std::span<const std::byte> bytes() const { return writer_.bytes(); }

 private:
  CompactWriter writer_;
  RemotePart before_;
};

class PartReader {
 public:
  explicit PartReader(std::span<const std::byte> bytes) : reader_(bytes) {}
  const RemotePart& next(CommId comm) {
    RemotePart part;
    code_part(reader_, part, before_);
    part.op.comm = comm;
    return before_ = part;
  }

 private:
  CompactReader reader_;
  RemotePart before_;
};

}  // namespace culprit::replay
