// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OTF2's callbacks for one-sided communication and files; as in callbacks.cpp, each unpacks
// one kind of record. An operation on all of a window, or of its group, has no target.
#include "trace/otf2/events.h"
#include "trace/otf2/names.h"

namespace culprit::trace {

namespace {

constexpr OTF2_CallbackCode kGoOn = OTF2_CALLBACK_SUCCESS;
using Attributes = OTF2_AttributeList*;

EventDecoder& decoder(void* data) {
  return *static_cast<EventDecoder*>(data);
}

std::optional<uint32_t> target_of(uint32_t remote) {
  if (remote == OTF2_UNDEFINED_UINT32) return std::nullopt;
  return remote;
}

template <void (EventSink::*kDeliver)(Time, WindowId)>
OTF2_CallbackCode on_window(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                            OTF2_RmaWinRef win) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  if (const auto window = d.window(win)) (d.sink().*kDeliver)(at, *window);
  return kGoOn;
}

/// The end says it all.
OTF2_CallbackCode on_collective_begin(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                      Attributes) {
  decoder(data).at(time);
  return kGoOn;
}

OTF2_CallbackCode on_collective_end(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                    Attributes attributes, OTF2_CollectiveOp op, OTF2_RmaSyncLevel,
                                    OTF2_RmaWinRef win, uint32_t root, uint64_t sent,
                                    uint64_t received) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  const auto window = d.window(win);
  if (!window) return kGoOn;
  RmaCollective collective{collective_from_otf2(op),    *window, {}, sent, received,
                           d.rma_assertions(attributes)};
  if (root < OTF2_COLLECTIVE_ROOT_THIS_GROUP) collective.root = root;
  d.sink().rma_collective(at, collective);
  return kGoOn;
}

OTF2_CallbackCode on_group_sync(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                Attributes attributes, OTF2_RmaSyncLevel, OTF2_RmaWinRef win,
                                OTF2_GroupRef group) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  if (const auto window = d.window(win)) {
    d.sink().rma_group_sync(
        at, {d.rma_traits().epoch, *window, d.group(group), d.rma_assertions(attributes)});
  }
  return kGoOn;
}

template <RmaLockStep kStep>
OTF2_CallbackCode on_lock(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                          Attributes attributes, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock,
                          OTF2_LockType type) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  const auto target = target_of(remote);
  if (const auto window = d.window(win, target)) {
    d.sink().rma_lock(at, {kStep, *window, target, type == OTF2_LOCK_EXCLUSIVE, lock,
                           d.rma_assertions(attributes)});
  }
  return kGoOn;
}

OTF2_CallbackCode on_release(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                             Attributes, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  const auto target = target_of(remote);
  if (const auto window = d.window(win, target)) {
    d.sink().rma_lock(at,
                      {RmaLockStep::released, *window, target, false, lock, RmaAssertions::none});
  }
  return kGoOn;
}

OTF2_CallbackCode on_sync(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                          OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaSyncType type) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  const auto target = target_of(remote);
  const auto window = d.window(win, target);
  const RmaSyncKind kind = type == OTF2_RMA_SYNC_TYPE_NOTIFY_IN    ? RmaSyncKind::notify_in
                           : type == OTF2_RMA_SYNC_TYPE_NOTIFY_OUT ? RmaSyncKind::notify_out
                                                                   : d.rma_traits().sync;
  if (window) d.sink().rma_sync(at, {kind, *window, target});
  return kGoOn;
}

void deliver_operation(EventDecoder& d, OTF2_TimeStamp time, OTF2_RmaWinRef win,
                       RmaOperation operation) {
  const Time at = d.at(time);
  const auto window = d.window(win, operation.target);
  if (!window) return;
  operation.window = *window;
  d.sink().rma_operation(at, operation);
}

OTF2_CallbackCode on_put(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                         OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id) {
  deliver_operation(decoder(data), time, win, {{}, remote, RmaOp::put, bytes, 0, RmaOpId{id}});
  return kGoOn;
}

OTF2_CallbackCode on_get(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                         OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id) {
  deliver_operation(decoder(data), time, win, {{}, remote, RmaOp::get, 0, bytes, RmaOpId{id}});
  return kGoOn;
}

OTF2_CallbackCode on_atomic(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                            OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type,
                            uint64_t sent, uint64_t received, uint64_t id) {
  deliver_operation(decoder(data), time, win,
                    {{}, remote, rma_op_from_otf2(type), sent, received, RmaOpId{id}});
  return kGoOn;
}

template <RmaCompletion kCompletion>
OTF2_CallbackCode on_complete(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                              Attributes, OTF2_RmaWinRef win, uint64_t id) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  if (const auto window = d.window(win)) {
    d.sink().rma_complete(at, *window, RmaOpId{id}, kCompletion);
  }
  return kGoOn;
}

OTF2_CallbackCode on_open(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                          OTF2_IoHandleRef handle, OTF2_IoAccessMode mode,
                          OTF2_IoCreationFlag creation, OTF2_IoStatusFlag status) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) {
    d.sink().file_opened(at, *file, file_access_from_otf2(mode, creation, status));
  }
  return kGoOn;
}

OTF2_CallbackCode on_close(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                           OTF2_IoHandleRef handle) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) d.sink().file_closed(at, *file);
  return kGoOn;
}

OTF2_CallbackCode on_begin(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                           OTF2_IoHandleRef handle, OTF2_IoOperationMode mode,
                           OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t id) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  const auto file = d.file(handle);
  if (!file) return kGoOn;
  const FileMode ours = mode == OTF2_IO_OPERATION_MODE_READ    ? FileMode::read
                        : mode == OTF2_IO_OPERATION_MODE_WRITE ? FileMode::write
                                                               : FileMode::flush;
  d.sink().file_operation(
      at, {*file, ours, (flags & OTF2_IO_OPERATION_FLAG_COLLECTIVE) != 0,
           (flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) != 0, bytes, FileOpId{id}});
  return kGoOn;
}

OTF2_CallbackCode on_issued(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                            OTF2_IoHandleRef handle, uint64_t id) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) {
    d.sink().file_operation_issued(at, *file, FileOpId{id});
  }
  return kGoOn;
}

OTF2_CallbackCode on_done(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                          OTF2_IoHandleRef handle, uint64_t bytes, uint64_t id) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) {
    d.sink().file_operation_complete(at, *file, FileOpId{id}, bytes);
  }
  return kGoOn;
}

}  // namespace

void set_one_sided_callbacks(OTF2_EvtReaderCallbacks* c) {
  using Step = RmaLockStep;
  using Sink = EventSink;
  OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(c, on_window<&Sink::rma_window_created>);
  OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(c, on_window<&Sink::rma_window_destroyed>);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(c, on_collective_begin);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, on_collective_end);
  OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(c, on_group_sync);
  OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(c, on_lock<Step::request>);
  OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c, on_lock<Step::acquired>);
  OTF2_EvtReaderCallbacks_SetRmaTryLockCallback(c, on_lock<Step::tried>);
  OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c, on_release);
  OTF2_EvtReaderCallbacks_SetRmaSyncCallback(c, on_sync);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_put);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_get);
  OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_atomic);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, on_complete<RmaCompletion::blocking>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(c, on_complete<RmaCompletion::local>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(c, on_complete<RmaCompletion::remote>);
}

void set_file_callbacks(OTF2_EvtReaderCallbacks* c) {
  OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback(c, on_open);
  OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback(c, on_close);
  OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(c, on_begin);
  OTF2_EvtReaderCallbacks_SetIoOperationIssuedCallback(c, on_issued);
  OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(c, on_done);
}

}  // namespace culprit::trace
