// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Files (handlers.h). A transfer has a begin, with the requested amount, and an end, with the
// amount moved as its status says. The end is in the same call, in one that completes a request, or
// in the `_end` of a split collective.

#include <atomic>
#include <cstring>

#include "collector/mpi/facts.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/objects.h"
#include "collector/mpi/requests.h"

namespace culprit::collector::mpi {
namespace {

using trace::FileAccess;
namespace flag = trace::raw_file_op;

std::atomic<uint32_t> next_file{1};

FileAccess access_of(int mode) {
  const struct {
    int mpis;
    FileAccess ours;
  } all[] = {{MPI_MODE_RDONLY, FileAccess::read},
             {MPI_MODE_WRONLY, FileAccess::write},
             {MPI_MODE_RDWR, FileAccess::read | FileAccess::write},
             {MPI_MODE_CREATE, FileAccess::create},
             {MPI_MODE_EXCL, FileAccess::exclusive},
             {MPI_MODE_APPEND, FileAccess::append},
             {MPI_MODE_DELETE_ON_CLOSE, FileAccess::delete_on_close},
             {MPI_MODE_UNIQUE_OPEN, FileAccess::unique},
             {MPI_MODE_SEQUENTIAL, FileAccess::sequential}};
  FileAccess set = FileAccess::none;
  for (const auto& one : all) {
    if (mode & one.mpis) set = set | one.ours;
  }
  return set;
}

/// A name too long for a record loses its beginning, which matters less than its end.
void put_definition(const CallRegion& region, const Comm& comm, FileAccess access,
                    std::string_view name) {
  constexpr size_t kWords = 128;
  uint64_t words[kWords] = {};
  if (name.size() > kWords * sizeof(uint64_t)) {
    name.remove_prefix(name.size() - kWords * sizeof(uint64_t));
  }
  memcpy(words, name.data(), name.size());
  const raw::file_def definition{.file = comm.object,
                                 .access = access,
                                 .comm = comm.id,
                                 .length = static_cast<uint32_t>(name.size())};
  region.log().put(region.end(), definition, words, (definition.length + 7) / 8);
}

uint64_t moved(const Statuses& status, int rc) {
  return rc == MPI_SUCCESS && status.readable() ? message_of(0, status[0]).bytes : 0;
}

}  // namespace

int on_file_open(const Function& function, MPI_Comm handle, const Text& name, int mode,
                 const FilePlace& file, RealCall call) {
  CallRegion region(function);
  Comm comm;
  if (region) {
    comm = comm_of(region.log(), region.begin(), handle);
    region.awaits(trace::RawAwaits::file_opening, comm.id);
  }
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  comm.object = next_file.fetch_add(1, std::memory_order_relaxed);
  remember_handle(HandleKind::file, key_of(file.get()), comm);
  put_definition(region, comm, access_of(mode), name.given() ? name.view() : "");
  return rc;
}

int on_file_close(const Function& function, const FilePlace& place, RealCall call) {
  CallRegion region(function);
  const Object file = file_of(region, place.get());
  file.end();
  if (file) region.awaits(trace::RawAwaits::file, file.number());
  const int rc = region.run(call);
  if (!file) return rc;
  if (rc == MPI_SUCCESS) {
    region.log().put(region.end(), raw::file_close{.file = file.number()});
  } else {
    file.give_back();
  }
  return rc;
}

int on_file_collective(const Function& function, MPI_File handle, RealCall call) {
  CallRegion region(function);
  const Object file = file_of(region, handle);
  const int rc = region.run(call);
  if (!file || rc != MPI_SUCCESS) return rc;
  CollectiveFacts facts;
  facts.comm = file.comm().id;
  put_collective(region.log(), region.end(), facts);
  return rc;
}

int on_file_transfer(const Function& function, const Transfer& transfer, const Statuses& status,
                     RealCall call) {
  CallRegion region(function);
  const Object file = file_of(region, transfer.file);
  if (file) {
    region.log().put(region.begin(),
                     raw::file_op{.file = file.number(),
                                  .op = transfer.flags,
                                  .bytes = bytes_of(transfer.count, transfer.type)});
  }
  const int rc = region.run(call);
  if (file) {
    region.log().put(
        region.end(),
        raw::file_op_done{.file = file.number(), .op = transfer.flags, .bytes = moved(status, rc)});
  }
  return rc;
}

int on_file_itransfer(const Function& function, const Transfer& transfer, const Requests& place,
                      RealCall call) {
  CallRegion region(function);
  const Object file = file_of(region, transfer.file);
  Request request;
  if (file) {
    request.kind = RequestKind::file;
    request.id = new_request_id();
    request.object = file.number();
    request.file_op = transfer.flags | flag::kRequest;
    region.log().put(region.begin(), raw::file_op{.file = file.number(),
                                                  .op = request.file_op,
                                                  .bytes = bytes_of(transfer.count, transfer.type),
                                                  .request = request.id});
  }
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  if (file) {
    region.log().put(
        region.end(),
        raw::file_op_issued{.file = file.number(), .op = request.file_op, .request = request.id});
  }
  add_request(place[0], place.place(0), request);
  return rc;
}

int on_file_begin(const Function& function, const Transfer& transfer, RealCall call) {
  CallRegion region(function);
  const Object file = file_of(region, transfer.file);
  const uint16_t op = transfer.flags | flag::kSplit;
  if (file) {
    region.log().put(
        region.begin(),
        raw::file_op{
            .file = file.number(), .op = op, .bytes = bytes_of(transfer.count, transfer.type)});
  }
  const int rc = region.run(call);
  if (file && rc == MPI_SUCCESS) {
    region.log().put(region.end(), raw::file_op_issued{.file = file.number(), .op = op});
  }
  return rc;
}

int on_file_end(const Function& function, const Transfer& transfer, const Statuses& status,
                RealCall call) {
  CallRegion region(function);
  const Object file = file_of(region, transfer.file);
  const int rc = region.run(call);
  if (file) {
    const uint16_t op = transfer.flags | flag::kSplit;
    region.log().put(
        region.end(),
        raw::file_op_done{.file = file.number(), .op = op, .bytes = moved(status, rc)});
  }
  return rc;
}

int on_file_sync(const Function& function, MPI_File handle, RealCall call) {
  CallRegion region(function);
  const Object file = file_of(region, handle);
  constexpr uint16_t kOp = flag::kFlush | flag::kCollective;
  if (file) region.log().put(region.begin(), raw::file_op{.file = file.number(), .op = kOp});
  const int rc = region.run(call);
  if (file) region.log().put(region.end(), raw::file_op_done{.file = file.number(), .op = kOp});
  return rc;
}

}  // namespace culprit::collector::mpi
