// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/detect/progress/message_helpers.h"

#include <algorithm>

namespace culprit::replay {

void MessageHelpers::visit(const MatchedMessage& message, Time asked) {
  const SentMessage& sent = message.sent;
  const ProcessId sender = run_.location(sent.met_at).process;
  if (!sent.completed_at.valid() || sender == process_) return;
  const CallRef completed_ref = run_.ref(message.receiver, message.recv.completed);
  const Call completed = run_.call(completed_ref);
  const Call posted = run_.call(run_.ref(message.receiver, message.recv.posted));
  Assisted one{.at = completed_ref.location,
               .call = completed,
               .who = sender,
               .begun = std::max(sent.met.enter, posted.enter),
               .from = sent.met.leave,
               .until = sent.completed.enter,
               .asked = asked,
               .bytes = message.recv.bytes,
               .kind = kind_of(message)};
  const bool awaited = message.recv.may_wait || asked != Time::max();
  if (awaited && one.from < one.until) note(one);
  if (!sent.may_wait || posted.leave >= completed.enter) return;
  one.at = sent.completed_at;
  one.call = sent.completed;
  one.who = process_;
  one.from = posted.leave;
  one.until = completed.enter;
  one.asked = Time::max();
  one.kind.helper = posted.enter < sent.met.enter ? Helper::receiver : Helper::late_receiver;
  note(one);
}

ProgressClass MessageHelpers::kind_of(const MatchedMessage& message) const {
  const auto& processes = run_.definitions->processes;
  const ProcessId sender = run_.location(message.sent.met_at).process;
  const bool far = processes[sender.index()].node != processes[process_.index()].node;
  const CallPathId path = message.sent.met.path;
  const RegionId region = path.valid() ? run_.callpaths[path].region : RegionId::none();
  return progress_class(region, Helper::sender, far, message.recv.bytes);
}

void MessageHelpers::note(const Assisted& one) {
  if (!out_.needs_judging(one, evidence_)) return;
  if (run_.location(one.at).process == process_) {
    out_.at(one.at).assisted.push_back(one);
  } else {
    others_.assisted(one);
  }
}

}  // namespace culprit::replay
