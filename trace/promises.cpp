// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a region promises follows from the call that it is, and is looked up once; a record that
// comes keeps it, and a leave without one breaks it.
#include "trace/promises.h"

#include <utility>

#include "trace/mpi_calls.h"

namespace culprit::trace {

namespace {

Promise promise_of(const MpiCall* call) {
  if (call == nullptr) return Promise::none;
  return call->is(MpiTrait::collective_record) ? Promise::collective
         : call->is(MpiTrait::message_record)  ? Promise::message
         : call->is(MpiTrait::ends_world)      ? Promise::finalize
                                               : Promise::none;
}

}  // namespace

Promise promise_of_mpi(std::string_view function) {
  return promise_of(mpi_call(function));
}

Promise promise_of(const Region& region) {
  if (const MpiCall* const call = mpi_call(region)) return promise_of(call);
  const bool team = region.role == RegionRole::parallel && region.paradigm == Paradigm::openmp;
  return team ? Promise::team : Promise::none;
}

bool Promises::left(Promise promise) {
  switch (promise) {
    case Promise::collective:
      collectives_missing_ += !std::exchange(collective_, false);
      return false;
    case Promise::finalize:
      return !std::exchange(collective_, false);
    case Promise::message:
      ++message_calls_;
      return false;
    case Promise::team:
      ++parallel_;
      return false;
    case Promise::none:
      break;
  }
  return false;
}

void Promises::report(bool alone, Losses& losses) const {
  losses.add(LossKind::collectives_without_records, alone ? 0 : collectives_missing_);
  losses.add(LossKind::messages_without_records, alone || messages_ != 0 ? 0 : message_calls_);
  losses.add(LossKind::regions_without_teams, teams_ == 0 ? parallel_ : 0);
  losses.add(LossKind::samples_not_used, samples_);
}

}  // namespace culprit::trace
