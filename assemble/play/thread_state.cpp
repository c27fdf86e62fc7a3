// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Constructs are remembered at places that follow from where they are: a thread goes through few,
// again and again, and to look one up among all of the process's takes longer.
#include "assemble/play/thread_state.h"

namespace culprit::assemble {

void ThreadState::observe(Time time, uint32_t path) {
  observe(time, path == 0 ? nullptr : &this->path(time, path));
}

void ThreadState::observe_call(Time time, uint32_t path) {
  observe(time, path == 0 ? nullptr : &paths.user_path(path));
}

void ThreadState::observe(Time time, const UserPath* known) {
  if (known == nullptr || !known->says_something()) return timeline.observe_nothing(time);
  timeline.observe(time, *known);
}

void ThreadState::observe_code(Time time, uint64_t code) {
  const Code* known = code == 0 ? nullptr : &process.code.before(code);
  if (known == nullptr || known->frames.empty()) return timeline.observe_nothing(time);
  std::vector<RegionId> frames;
  bool named = true;
  for (const CodeFrame& frame : known->frames) {
    if (frame.kind == CodeKind::outlined) frames.clear();
    if (frame.kind == CodeKind::user) frames.push_back(frame.region);
    if (frame.kind == CodeKind::openmp_runtime) return timeline.observe_nothing(time);
    named = named && frame.named;
  }
  timeline.observe_innermost(time, frames, process.code.site(code), named);
}

RegionId ThreadState::construct(std::string_view name, trace::RegionRole role,
                                const Symbol* place) {
  const auto mixed = reinterpret_cast<uintptr_t>(place) / alignof(Symbol) + name.size() * 7 +
                     static_cast<size_t>(role) * 3;
  Construct& last = constructs[mixed % constructs.size()];
  if (!last.region.valid() || last.place != place || last.role != role || last.name != name) {
    last = {std::string(name), role, place, process.regions.openmp(name, role, place)};
  }
  return last.region;
}

void ThreadState::fact(Time time, trace::Fact fact, uint64_t value) {
  timeline.observe_nothing(time);
  const Time at = timeline.advance(time);
  timeline.sink().fact(at, fact, value);
}

}  // namespace culprit::assemble
