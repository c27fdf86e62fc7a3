// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is done with the records of one-sided communication and files, as in handle.h. An operation
// on all of a window, or of its group, has no target.
#pragma once

#include <otf2/otf2.h>

#include <optional>

#include "trace/otf2/events.h"
#include "trace/otf2/names.h"
#include "trace/otf2/records/attributes.h"

namespace culprit::trace {

inline std::optional<uint32_t> target_of(uint32_t remote) {
  if (remote == OTF2_UNDEFINED_UINT32) return std::nullopt;
  return remote;
}

template <void (EventSink::*kDeliver)(Time, WindowId)>
void on_window(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_RmaWinRef win) {
  const Time at = d.at(time);
  if (const auto window = d.window(win)) (d.sink().*kDeliver)(at, *window);
}

inline void on_rma_collective_end(EventDecoder& d, OTF2_TimeStamp time,
                                  const Attributes& attributes, OTF2_CollectiveOp op,
                                  OTF2_RmaSyncLevel, OTF2_RmaWinRef win, uint32_t root,
                                  uint64_t sent, uint64_t received) {
  const Time at = d.at(time);
  const auto window = d.window(win);
  if (!window) return;
  RmaCollective collective{collective_from_otf2(op),    *window, {}, sent, received,
                           d.rma_assertions(attributes)};
  if (root < OTF2_COLLECTIVE_ROOT_THIS_GROUP) collective.root = root;
  d.sink().rma_collective(at, collective);
}

inline void on_group_sync(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                          OTF2_RmaSyncLevel, OTF2_RmaWinRef win, OTF2_GroupRef group) {
  const Time at = d.at(time);
  if (const auto window = d.window(win)) {
    d.sink().rma_group_sync(
        at, {d.rma_traits().epoch, *window, d.group(group), d.rma_assertions(attributes)});
  }
}

template <RmaLockStep kStep>
void on_lock(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes, OTF2_RmaWinRef win,
             uint32_t remote, uint64_t lock, OTF2_LockType type) {
  const Time at = d.at(time);
  const auto target = target_of(remote);
  if (const auto window = d.window(win, target)) {
    d.sink().rma_lock(at, {kStep, *window, target, type == OTF2_LOCK_EXCLUSIVE, lock,
                           d.rma_assertions(attributes)});
  }
}

inline void on_release(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_RmaWinRef win,
                       uint32_t remote, uint64_t lock) {
  const Time at = d.at(time);
  const auto target = target_of(remote);
  if (const auto window = d.window(win, target)) {
    d.sink().rma_lock(at,
                      {RmaLockStep::released, *window, target, false, lock, RmaAssertions::none});
  }
}

inline void on_sync(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_RmaWinRef win,
                    uint32_t remote, OTF2_RmaSyncType type) {
  const Time at = d.at(time);
  const auto target = target_of(remote);
  const auto window = d.window(win, target);
  const RmaSyncKind kind = type == OTF2_RMA_SYNC_TYPE_NOTIFY_IN    ? RmaSyncKind::notify_in
                           : type == OTF2_RMA_SYNC_TYPE_NOTIFY_OUT ? RmaSyncKind::notify_out
                                                                   : d.rma_traits().sync;
  if (window) d.sink().rma_sync(at, {kind, *window, target});
}

inline void deliver_operation(EventDecoder& d, OTF2_TimeStamp time, OTF2_RmaWinRef win,
                              RmaOperation operation) {
  const Time at = d.at(time);
  const auto window = d.window(win, operation.target);
  if (!window) return;
  operation.window = *window;
  d.sink().rma_operation(at, operation);
}

inline void on_put(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_RmaWinRef win,
                   uint32_t remote, uint64_t bytes, uint64_t id) {
  deliver_operation(d, time, win, {{}, remote, RmaOp::put, bytes, 0, RmaOpId{id}});
}

inline void on_get(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_RmaWinRef win,
                   uint32_t remote, uint64_t bytes, uint64_t id) {
  deliver_operation(d, time, win, {{}, remote, RmaOp::get, 0, bytes, RmaOpId{id}});
}

inline void on_atomic(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_RmaWinRef win,
                      uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                      uint64_t id) {
  deliver_operation(d, time, win,
                    {{}, remote, rma_op_from_otf2(type), sent, received, RmaOpId{id}});
}

template <RmaCompletion kCompletion>
void on_complete(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_RmaWinRef win,
                 uint64_t id) {
  const Time at = d.at(time);
  if (const auto window = d.window(win)) {
    d.sink().rma_complete(at, *window, RmaOpId{id}, kCompletion);
  }
}

inline void on_open(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                    OTF2_IoHandleRef handle, OTF2_IoAccessMode mode, OTF2_IoCreationFlag creation,
                    OTF2_IoStatusFlag status) {
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) {
    d.sink().file_opened(at, *file, file_access_from_otf2(mode, creation, status));
  }
}

inline void on_close(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                     OTF2_IoHandleRef handle) {
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) d.sink().file_closed(at, *file);
}

inline void on_begin(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                     OTF2_IoHandleRef handle, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags,
                     uint64_t bytes, uint64_t id) {
  const Time at = d.at(time);
  const auto file = d.file(handle);
  if (!file) return;
  const FileMode ours = mode == OTF2_IO_OPERATION_MODE_READ    ? FileMode::read
                        : mode == OTF2_IO_OPERATION_MODE_WRITE ? FileMode::write
                                                               : FileMode::flush;
  d.sink().file_operation(
      at, {*file, ours, (flags & OTF2_IO_OPERATION_FLAG_COLLECTIVE) != 0,
           (flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) != 0, bytes, FileOpId{id}});
}

inline void on_issued(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                      OTF2_IoHandleRef handle, uint64_t id) {
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) {
    d.sink().file_operation_issued(at, *file, FileOpId{id});
  }
}

inline void on_done(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                    OTF2_IoHandleRef handle, uint64_t bytes, uint64_t id) {
  const Time at = d.at(time);
  if (const auto file = d.file(handle)) {
    d.sink().file_operation_complete(at, *file, FileOpId{id}, bytes);
  }
}

}  // namespace culprit::trace
