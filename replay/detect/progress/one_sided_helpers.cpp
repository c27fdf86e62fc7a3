// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Accesses since the last flush are complete after the next one: a call for all targets concerns
// only the targets that were accessed.
#include "replay/detect/progress/one_sided_helpers.h"

#include <algorithm>
#include <map>

namespace culprit::replay {

namespace {

class Targets {
 public:
  Targets(const Run& run, ProcessId process, const Detection& out, Outbox& box)
      : run_(run), process_(process), out_(out), box_(box) {}

  void see(const RmaCall& act) {
    const RmaFact& fact = act.fact;
    switch (fact.act) {
      case RmaAct::operation:
        accessed_[fact.window][fact.target] += uint64_t{1} << std::min<unsigned>(fact.width, 62);
        return;
      case RmaAct::lock:
        if (fact.target != RmaFact::kAllTargets) note(act, fact.target, 0);
        return;
      case RmaAct::flush:
      case RmaAct::unlock:
        return complete(act);
      case RmaAct::start:
      case RmaAct::complete:
      case RmaAct::post:
      case RmaAct::wait:
        return;  // both sides take part
    }
  }
  const ProgressEvidence& evidence() const { return evidence_; }

 private:
  void complete(const RmaCall& act) {
    std::map<uint32_t, uint64_t>& open = accessed_[act.fact.window];
    for (auto it = open.begin(); it != open.end();) {
      const auto& [target, bytes] = *it;
      const bool concerned = act.fact.target == RmaFact::kAllTargets || act.fact.target == target;
      if (concerned) note(act, target, bytes);
      it = concerned ? open.erase(it) : std::next(it);
    }
  }

  void note(const RmaCall& act, uint32_t target, uint64_t bytes) {
    const auto& processes = run_.definitions->processes;
    const CommId comm = run_.definitions->windows[act.fact.window.index()].comm;
    if (!comm.valid() || !act.call.path.valid()) return;
    const auto& members = run_.definitions->comms[comm.index()].members;
    if (target >= members.size() || members[target] == process_) return;
    const ProcessId who = members[target];
    const bool far = processes[who.index()].node != processes[process_.index()].node;
    const RegionId region = run_.callpaths[act.call.path].region;
    const Assisted one{.at = act.location,
                       .call = act.call,
                       .who = who,
                       .begun = act.call.enter,
                       .from = Time::min(),
                       .until = Time::max(),
                       .asked = Time::max(),
                       .bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX)),
                       .kind = progress_class(region, Helper::target, far, bytes)};
    if (out_.needs_judging(one, evidence_)) box_.assisted(one);
  }

  const Run& run_;
  const ProcessId process_;
  const Detection& out_;
  Outbox& box_;
  std::map<WindowId, std::map<uint32_t, uint64_t>> accessed_;  ///< bytes, by target
  ProgressEvidence evidence_;
};

}  // namespace

Assisted completes_with(const Run& run, const AccessEpoch& access, const ExposureEpoch& exposure,
                        ProcessId target) {
  const auto& processes = run.definitions->processes;
  const ProcessId origin = run.location(access.location).process;
  const bool far = processes[origin.index()].node != processes[target.index()].node;
  const CallPathId path = access.complete.path;
  const RegionId region = path.valid() ? run.callpaths[path].region : RegionId::none();
  return {.at = access.location,
          .call = access.complete,
          .who = target,
          .begun = std::max(access.complete.enter, exposure.post.enter),
          .from = exposure.post.leave,
          .until = exposure.wait.enter,
          .asked = Time::max(),
          .bytes = 0,
          .kind = progress_class(region, Helper::target, far, 0)};
}

void note_busy_targets(const Run& run, ProcessId process, const RmaEpochs& own, Detection& out,
                       Outbox& box) {
  if (own.acts.empty()) return;
  Targets targets(run, process, out, box);
  for (const RmaCall& act : own.acts) targets.see(act);
  out.add(targets.evidence());
}

}  // namespace culprit::replay
