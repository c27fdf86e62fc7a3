// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

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

bool in_one_call(const RawRecord& record) {
  return (record.flags & (flag::kRequest | flag::kSplit)) == 0;
}

trace::MpiCollective on(CommId comm, CollectiveOp op) {
  trace::MpiCollective collective;
  collective.op = op;
  collective.comm = comm;
  return collective;
}

}  // namespace

void FileRecords::see(const RawRecord& record) {
  const auto known = state_.process.objects.files.find(record.arg);
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
      return sink().file_opened(time, file.file, static_cast<trace::FileAccess>(record.flags));
    case RawKind::file_close:
      collective(time, CollectiveOp::destroy_handle, file.comm);
      return sink().file_closed(time, file.file);
    case RawKind::file_op:
      return begin(record, time, file);
    case RawKind::file_op_issued:
      return issued(record, time, file);
    case RawKind::file_op_done:
      return done(record, time, file);
    default:
      return;
  }
}

void FileRecords::collective(Time time, CollectiveOp op, CommId comm) {
  sink().mpi_collective(time, on(comm, op));
}

void FileRecords::begin(const RawRecord& record, Time time, LocalObjects::FileOn file) {
  const bool has_request = (record.flags & flag::kRequest) != 0 && record.words > 1;
  const uint64_t id = has_request ? record.w[1] : kOwnIds | ids_++;
  if (in_one_call(record)) blocking_ = id;
  if (record.flags & flag::kSplit) splits_[record.arg] = id;
  trace::FileOperation operation;
  operation.file = file.file;
  operation.mode = record.flags & flag::kFlush   ? trace::FileMode::flush
                   : record.flags & flag::kWrite ? trace::FileMode::write
                                                 : trace::FileMode::read;
  operation.collective = (record.flags & flag::kCollective) != 0;
  operation.nonblocking = !in_one_call(record);
  operation.bytes = record.w[0];
  operation.id = FileOpId{id};
  sink().file_operation(time, operation);
  if (operation.collective && operation.nonblocking) {
    sink().mpi_icollective_request(time, RequestId{id});
  }
}

void FileRecords::issued(const RawRecord& record, Time time, LocalObjects::FileOn file) {
  const uint64_t id = record.words > 0 ? record.w[0] : splits_[record.arg];
  sink().file_operation_issued(time, file.file, FileOpId{id});
}

void FileRecords::done(const RawRecord& record, Time time, LocalObjects::FileOn file) {
  uint64_t id = blocking_;
  if (record.flags & flag::kSplit) {
    const auto begun = splits_.find(record.arg);
    if (begun == splits_.end()) return;  // another thread began it
    id = begun->second;
    splits_.erase(begun);
  } else if (record.words > 1) {
    id = record.w[1];
  }
  if (record.flags & flag::kCollective) {
    if (in_one_call(record)) {
      collective(time, CollectiveOp::other, file.comm);
    } else {
      sink().mpi_icollective_complete(time, on(file.comm, CollectiveOp::other), RequestId{id});
    }
  }
  sink().file_operation_complete(time, file.file, FileOpId{id}, record.w[0]);
}

}  // namespace culprit::assemble
