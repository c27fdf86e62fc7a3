// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One-sided communication and files on their way into an archive (sink.h). OTF2's levels of
// synchronisation follow from the event; MPI's assertions, which it lacks, are an attribute.
#include "trace/otf2/names.h"
#include "trace/otf2/sink.h"

namespace culprit::trace {

namespace {

OTF2_RmaWinRef ref(WindowId window) {
  return static_cast<OTF2_RmaWinRef>(window.index());
}
OTF2_IoHandleRef ref(FileId file) {
  return static_cast<OTF2_IoHandleRef>(file.index());
}
template <class OperationId>
uint64_t number(OperationId id) {
  return static_cast<uint64_t>(id);
}
uint32_t otf2_target(std::optional<uint32_t> target) {
  return target.value_or(OTF2_UNDEFINED_UINT32);
}

constexpr OTF2_RmaSyncLevel kProcesses = OTF2_RMA_SYNC_LEVEL_PROCESS;
constexpr OTF2_RmaSyncLevel kProcessesAndMemory =
    OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;

OTF2_RmaSyncType otf2_sync_type(RmaSyncKind kind) {
  switch (kind) {
    case RmaSyncKind::notify_in:
      return OTF2_RMA_SYNC_TYPE_NOTIFY_IN;
    case RmaSyncKind::notify_out:
      return OTF2_RMA_SYNC_TYPE_NOTIFY_OUT;
    case RmaSyncKind::memory:
    case RmaSyncKind::flush:
    case RmaSyncKind::flush_local:
      break;
  }
  return OTF2_RMA_SYNC_TYPE_MEMORY;
}

OTF2_IoOperationMode otf2_mode(FileMode mode) {
  switch (mode) {
    case FileMode::read:
      return OTF2_IO_OPERATION_MODE_READ;
    case FileMode::write:
      return OTF2_IO_OPERATION_MODE_WRITE;
    case FileMode::flush:
      break;
  }
  return OTF2_IO_OPERATION_MODE_FLUSH;
}

}  // namespace

OTF2_AttributeList* Otf2Sink::with(RmaAssertions assertions) {
  if (assertions == RmaAssertions::none) return nullptr;
  OTF2_AttributeList_AddUint8(attributes_.get(), kRmaAssertionsRef,
                              static_cast<uint8_t>(assertions));
  return attributes_.get();
}

/// The begin record carries the time at which the call was entered.
OTF2_TimeStamp Otf2Sink::begin_rma_collective(Time time) {
  const bool first_in_call = pending_enter_.has_value();
  const OTF2_TimeStamp entered = done_.last;
  const OTF2_TimeStamp now = stamp(time);
  if (!in_rma_collective_) {
    check(OTF2_EvtWriter_RmaCollectiveBegin(writer_, nullptr, first_in_call ? entered : now));
  }
  in_rma_collective_ = true;
  return now;
}

void Otf2Sink::rma_window_created(Time time, WindowId window) {
  const OTF2_TimeStamp now = begin_rma_collective(time);
  check(OTF2_EvtWriter_RmaWinCreate(writer_, nullptr, now, ref(window)));
}

void Otf2Sink::rma_window_destroyed(Time time, WindowId window) {
  const OTF2_TimeStamp now = begin_rma_collective(time);
  check(OTF2_EvtWriter_RmaWinDestroy(writer_, nullptr, now, ref(window)));
}

void Otf2Sink::rma_collective(Time time, const RmaCollective& c) {
  const OTF2_TimeStamp now = begin_rma_collective(time);
  in_rma_collective_ = false;
  const bool handles = c.op == CollectiveOp::create_handle || c.op == CollectiveOp::destroy_handle;
  check(OTF2_EvtWriter_RmaCollectiveEnd(
      writer_, with(c.assertions), now, to_otf2(c.op), handles ? kProcesses : kProcessesAndMemory,
      ref(c.window), c.root.value_or(static_cast<uint32_t>(OTF2_COLLECTIVE_ROOT_NONE)),
      c.bytes_sent, c.bytes_received));
}

void Otf2Sink::rma_group_sync(Time time, const RmaGroupSync& s) {
  const bool begins = s.epoch == RmaEpoch::start || s.epoch == RmaEpoch::post;
  check(OTF2_EvtWriter_RmaGroupSync(writer_, with(s.assertions), stamp(time),
                                    begins ? kProcesses : kProcessesAndMemory, ref(s.window),
                                    group_ref(s.group)));
}

void Otf2Sink::rma_lock(Time time, const RmaLock& l) {
  const OTF2_TimeStamp now = stamp(time);
  const uint32_t target = otf2_target(l.target);
  const OTF2_LockType type = l.exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED;
  switch (l.step) {
    case RmaLockStep::request:
      return check(OTF2_EvtWriter_RmaRequestLock(writer_, with(l.assertions), now, ref(l.window),
                                                 target, l.lock, type));
    case RmaLockStep::acquired:
      return check(OTF2_EvtWriter_RmaAcquireLock(writer_, with(l.assertions), now, ref(l.window),
                                                 target, l.lock, type));
    case RmaLockStep::tried:
      return check(OTF2_EvtWriter_RmaTryLock(writer_, with(l.assertions), now, ref(l.window),
                                             target, l.lock, type));
    case RmaLockStep::released:
      return check(
          OTF2_EvtWriter_RmaReleaseLock(writer_, nullptr, now, ref(l.window), target, l.lock));
  }
}

void Otf2Sink::rma_sync(Time time, const RmaSync& s) {
  check(OTF2_EvtWriter_RmaSync(writer_, nullptr, stamp(time), ref(s.window), otf2_target(s.target),
                               otf2_sync_type(s.kind)));
}

void Otf2Sink::rma_operation(Time time, const RmaOperation& o) {
  const OTF2_TimeStamp now = stamp(time);
  const OTF2_RmaWinRef window = ref(o.window);
  if (o.op == RmaOp::put) {
    check(
        OTF2_EvtWriter_RmaPut(writer_, nullptr, now, window, o.target, o.bytes_sent, number(o.id)));
  } else if (o.op == RmaOp::get) {
    check(OTF2_EvtWriter_RmaGet(writer_, nullptr, now, window, o.target, o.bytes_received,
                                number(o.id)));
  } else {
    check(OTF2_EvtWriter_RmaAtomic(writer_, nullptr, now, window, o.target, to_otf2(o.op),
                                   o.bytes_sent, o.bytes_received, number(o.id)));
  }
}

void Otf2Sink::rma_complete(Time time, WindowId window, RmaOpId id, RmaCompletion completion) {
  const OTF2_TimeStamp now = stamp(time);
  switch (completion) {
    case RmaCompletion::blocking:
      return check(
          OTF2_EvtWriter_RmaOpCompleteBlocking(writer_, nullptr, now, ref(window), number(id)));
    case RmaCompletion::local:
      return check(
          OTF2_EvtWriter_RmaOpCompleteNonBlocking(writer_, nullptr, now, ref(window), number(id)));
    case RmaCompletion::remote:
      return check(
          OTF2_EvtWriter_RmaOpCompleteRemote(writer_, nullptr, now, ref(window), number(id)));
  }
}

void Otf2Sink::file_opened(Time time, FileId file, FileAccess access) {
  check(OTF2_EvtWriter_IoCreateHandle(writer_, nullptr, stamp(time), ref(file),
                                      otf2_access_mode(access), otf2_creation_flags(access),
                                      otf2_status_flags(access)));
}

void Otf2Sink::file_closed(Time time, FileId file) {
  check(OTF2_EvtWriter_IoDestroyHandle(writer_, nullptr, stamp(time), ref(file)));
}

void Otf2Sink::file_operation(Time time, const FileOperation& o) {
  uint32_t flags = OTF2_IO_OPERATION_FLAG_NONE;
  if (o.nonblocking) flags |= OTF2_IO_OPERATION_FLAG_NON_BLOCKING;
  if (o.collective) flags |= OTF2_IO_OPERATION_FLAG_COLLECTIVE;
  check(OTF2_EvtWriter_IoOperationBegin(writer_, nullptr, stamp(time), ref(o.file),
                                        otf2_mode(o.mode), flags, o.bytes, number(o.id)));
}

void Otf2Sink::file_operation_issued(Time time, FileId file, FileOpId id) {
  check(OTF2_EvtWriter_IoOperationIssued(writer_, nullptr, stamp(time), ref(file), number(id)));
}

void Otf2Sink::file_operation_complete(Time time, FileId file, FileOpId id, uint64_t bytes) {
  check(OTF2_EvtWriter_IoOperationComplete(writer_, nullptr, stamp(time), ref(file), bytes,
                                           number(id)));
}

}  // namespace culprit::trace
