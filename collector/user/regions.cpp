// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Implements include/culprit.h: the program's regions, phases and iterations, as records. A program
// that neither MPI nor OpenMP has made worth recording stays unrecorded.
#include "include/culprit.h"

#include "collector/process/environment.h"
#include "collector/process/process_record.h"
#include "collector/process/recorder.h"
#include "collector/process/selection.h"
#include "collector/user/names.h"

namespace culprit::collector::user {

namespace {

using trace::RawUserRegion;

bool is_unwanted(RawUserRegion kind) {
  return kind == RawUserRegion::region && environment().without.regions;
}

/// The number of the name in this log; none if it is left out, or (counted) if there are too many.
StringId number_of(ThreadLog& log, RawUserRegion kind, const char* text, size_t length) {
  const Name* name = name_of(text, length);
  if (name != nullptr && name->excluded && kind == RawUserRegion::region) return StringId::none;
  const StringId number = name == nullptr ? StringId::none : log.name(name->text);
  if (number == StringId::none) tally(&trace::RawProcess::dropped_records);
  return number;
}

void begin(RawUserRegion kind, const char* name, size_t length, long long number) {
  const uint64_t time = now();
  selection::begins(kind, name, length, number, time);
  if (!recording() || is_unwanted(kind)) return;
  ThreadLog* log = thread_log();
  if (log == nullptr) return;
  const StringId id = number_of(*log, kind, name, length);
  if (id == StringId::none) return;
  const PathId caller = log->current_path();
  if (log->counting) log->count(time);
  log->put(time, raw::user_enter{.path = static_cast<uint32_t>(caller),
                                 .name = static_cast<uint16_t>(id),
                                 .kind = kind,
                                 .iteration = static_cast<uint64_t>(number)});
}

void end(RawUserRegion kind, const char* name, size_t length) {
  const uint64_t time = now();
  ThreadLog* log = recording() && !is_unwanted(kind) ? thread_log() : nullptr;
  if (log != nullptr) {
    const StringId id = number_of(*log, kind, name, length);
    if (id != StringId::none) {
      if (log->counting) log->count(time);
      log->put(time, raw::user_leave{.kind = kind, .name = static_cast<uint16_t>(id)});
    }
  }
  selection::has_ended(kind, name, length, time);
}

void region_begin(const char* name, size_t length) {
  begin(RawUserRegion::region, name, length, 0);
}
void region_end(const char* name, size_t length) {
  end(RawUserRegion::region, name, length);
}
void phase_begin(const char* name, size_t length) {
  begin(RawUserRegion::phase, name, length, 0);
}
void phase_end(const char* name, size_t length) {
  end(RawUserRegion::phase, name, length);
}
void iteration_begin(const char* loop, size_t length, long long number) {
  begin(RawUserRegion::iteration, loop, length, number);
}
void iteration_end(const char* loop, size_t length) {
  end(RawUserRegion::iteration, loop, length);
}
void record(int on) {
  switch_recording(on != 0);
}

}  // namespace

}  // namespace culprit::collector::user

/// Found by name, from the header's inline functions.
extern "C" CULPRIT_EXPORT const culprit_calls culprit_calls_1;
const culprit_calls culprit_calls_1 = {1,
                                       culprit::collector::user::region_begin,
                                       culprit::collector::user::region_end,
                                       culprit::collector::user::phase_begin,
                                       culprit::collector::user::phase_end,
                                       culprit::collector::user::iteration_begin,
                                       culprit::collector::user::iteration_end,
                                       culprit::collector::user::record};
