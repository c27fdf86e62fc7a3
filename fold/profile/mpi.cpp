// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls of MPI, with the bytes that they move.
#include "fold/profile/handlers.h"

namespace culprit::fold {
namespace {

void moved(Folding& to, uint64_t bytes) {
  if (to.is_inside(ProfileKind::mpi_call)) to.rows[to.around()].amount += bytes;
}

}  // namespace

void see(Folding& to, const raw::mpi_enter& entered, const Record& record) {
  const uint32_t row = to.event_row_at_path(ProfileKind::mpi_call, entered.path, entered.name);
  to.begin(record.time, ProfileKind::mpi_call, row, ProfileState::mpi, 0);
}

void see(Folding& to, const raw::mpi_leave&, const Record& record) {
  if (!to.end(record.time, ProfileKind::mpi_call, 0)) ++to.log.unpaired;
}

void see(Folding& to, const raw::mpi_send& sent, const Record&) {
  moved(to, sent.bytes);
}

void see(Folding& to, const raw::mpi_recv& received, const Record&) {
  moved(to, received.bytes);
}

void see(Folding& to, const raw::mpi_isend& sent, const Record&) {
  moved(to, sent.bytes);
}

void see(Folding& to, const raw::mpi_irecv& received, const Record&) {
  moved(to, received.bytes);
}

void see(Folding& to, const raw::mpi_collective& operation, const Record&) {
  moved(to, operation.sent + operation.received);
}

void see(Folding& to, const raw::mpi_icoll& operation, const Record&) {
  moved(to, operation.sent + operation.received);
}

void see(Folding& to, const raw::rma_op& operation, const Record&) {
  moved(to, operation.sent + operation.received);
}

void see(Folding& to, const raw::file_op_done& operation, const Record&) {
  moved(to, operation.bytes);
}

/// Between the tests the thread may have worked: what is not inside of them is taken to be behind
/// them.
void see(Folding& to, const raw::mpi_tests& tests, const Record& record) {
  const uint32_t row = to.event_row_at_path(ProfileKind::mpi_tests, tests.path, tests.name);
  const uint32_t behind = trace::profile_edge(row, true);
  to.end_stretch(record.time, trace::profile_edge(row, false));
  const uint64_t begin = to.log.until, end = std::max(begin, tests.until);
  const uint64_t inside = std::min(tests.inside, end - begin);
  to.end_stretch(begin + inside, behind, ProfileState::mpi);
  to.end_stretch(end, behind);
  uint64_t others = 0;
  const unsigned words =
      std::min<unsigned>(record.words, trace::kRawTestsWords + 2 * trace::kRawOtherTests);
  for (unsigned i = trace::kRawTestsWords; i + 1 < words; i += 2) {
    const auto name = static_cast<uint16_t>(record.w[i]);
    const auto path = static_cast<uint32_t>(record.w[i] >> 32);
    const uint32_t other = to.event_row_at_path(ProfileKind::mpi_tests, path, name);
    if (other != Rows::kRoot) to.rows[other].ticks += record.w[i + 1];
    others += record.w[i + 1];
  }
  if (row == Rows::kRoot) return;
  to.rows[row].visits += tests.count;
  to.rows[row].ticks += inside - std::min(inside, others);
}

}  // namespace culprit::fold
