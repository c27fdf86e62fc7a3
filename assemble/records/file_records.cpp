// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// File operations that were issued are kept by their request until the call that completes them.
#include "assemble/records/file_records.h"

namespace culprit::assemble {
namespace {

using trace::CollectiveOp;
using trace::FileOpId;
using trace::RawKind;
using trace::RequestId;
namespace flag = trace::raw_file_op;

/// Ids of ours stay clear of the program's requests.
constexpr uint64_t kOwnIds = uint64_t{1} << 63;

bool in_one_call(uint16_t op) {
  return (op & (flag::kRequest | flag::kSplit)) == 0;
}

trace::MpiCollective on(CommId comm, CollectiveOp op) {
  trace::MpiCollective collective;
  collective.op = op;
  collective.comm = comm;
  return collective;
}

}  // namespace

void FileRecords::see(const RawRecord& record) {
  const auto known = state_.process.objects.files.find(record.as<raw::file_close>().file);
  if (known == state_.process.objects.files.end()) {
    state_.losses.add(LossKind::operations_on_unknown_files);
    return;
  }
  state_.timeline.observe_nothing(state_.time(record));
  const Time time = state_.timeline.advance(state_.time(record));
  const LocalObjects::FileOn file = known->second;
  switch (record.kind) {
    case RawKind::file_def:
      collective(time, CollectiveOp::create_handle, file.comm);
      return sink().file_opened(time, file.file, record.as<raw::file_def>().access);
    case RawKind::file_close:
      collective(time, CollectiveOp::destroy_handle, file.comm);
      return sink().file_closed(time, file.file);
    case RawKind::file_op:
      return begin(record.as<raw::file_op>(), time, file);
    case RawKind::file_op_issued:
      return issued(record.as<raw::file_op_issued>(), time, file);
    case RawKind::file_op_done:
      return done(record.as<raw::file_op_done>(), time, file);
    default:
      return;
  }
}

void FileRecords::collective(Time time, CollectiveOp op, CommId comm) {
  sink().mpi_collective(time, on(comm, op));
}

void FileRecords::begin(const raw::file_op& begun, Time time, LocalObjects::FileOn file) {
  const bool has_request = (begun.op & flag::kRequest) != 0 && begun.request != 0;
  const uint64_t id = has_request ? begun.request : kOwnIds | ids_++;
  if (in_one_call(begun.op)) blocking_ = id;
  if (begun.op & flag::kSplit) splits_[begun.file] = id;
  trace::FileOperation operation;
  operation.file = file.file;
  operation.mode = begun.op & flag::kFlush   ? trace::FileMode::flush
                   : begun.op & flag::kWrite ? trace::FileMode::write
                                             : trace::FileMode::read;
  operation.collective = (begun.op & flag::kCollective) != 0;
  operation.nonblocking = !in_one_call(begun.op);
  operation.bytes = begun.bytes;
  operation.id = FileOpId{id};
  sink().file_operation(time, operation);
  if (operation.collective && operation.nonblocking) {
    sink().mpi_icollective_request(time, RequestId{id});
  }
}

void FileRecords::issued(const raw::file_op_issued& issued, Time time, LocalObjects::FileOn file) {
  const uint64_t id = issued.request != 0 ? issued.request : splits_[issued.file];
  sink().file_operation_issued(time, file.file, FileOpId{id});
}

void FileRecords::done(const raw::file_op_done& done, Time time, LocalObjects::FileOn file) {
  uint64_t id = blocking_;
  if (done.op & flag::kSplit) {
    const auto begun = splits_.find(done.file);
    if (begun == splits_.end()) return;  // another thread began it
    id = begun->second;
    splits_.erase(begun);
  } else if (done.request != 0) {
    id = done.request;
  }
  if (done.op & flag::kCollective) {
    if (in_one_call(done.op)) {
      collective(time, CollectiveOp::other, file.comm);
    } else {
      sink().mpi_icollective_complete(time, on(file.comm, CollectiveOp::other), RequestId{id});
    }
  }
  sink().file_operation_complete(time, file.file, FileOpId{id}, done.bytes);
}

}  // namespace culprit::assemble
