// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A POSIX queue is a file of the system's, and has that file's number in all processes; System V's
// numbers are the same in all processes of a node, unless containers divide it. semctl, which may
// set semaphores as well, is not observed. A queue with room has no waiting sender, so receiving
// from it needs no record.
#include "collector/sampling/processes/system_queues.h"

#include <errno.h>
#include <sys/msg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/process/recorder.h"
#include "collector/process/system_file.h"
#include "collector/sampling/processes/node_wakes.h"
#include "collector/sampling/started.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

using trace::ObjectKind;

namespace {

/// In place of a device's number: what the system keeps outside of files.
enum System : uint64_t { kQueue = 1, kRaised, kZero };

/// Semaphores of one set.
constexpr unsigned kSemaphoreBits = 16;

uint64_t object_of_posix(ObjectKind kind, mqd_t queue) {
  const KeepErrno keep;
  struct stat what;
  if (fstat(queue, &what) != 0) return 0;
  return object_of(kind, trace::file_number(what.st_dev, what.st_ino));
}

uint64_t object_of_system_v(ObjectKind kind, int queue) {
  return object_of(kind, trace::file_number(kQueue, static_cast<uint64_t>(queue)));
}

uint64_t object_of_semaphore(System state, int semaphores, uint16_t number) {
  const uint64_t all = static_cast<uint64_t>(semaphores) << kSemaphoreBits | number;
  return object_of(ObjectKind::semaphore, trace::file_number(state, all));
}

void say(uint64_t object) {
  if (object != 0) say_woke(object, now());
}

}  // namespace

uint64_t message_of_posix(mqd_t queue) {
  return object_of_posix(ObjectKind::queue, queue);
}

uint64_t room_of_posix(mqd_t queue) {
  return object_of_posix(ObjectKind::room, queue);
}

uint64_t message_of_system_v(int queue) {
  return object_of_system_v(ObjectKind::queue, queue);
}

uint64_t room_of_system_v(int queue) {
  return object_of_system_v(ObjectKind::room, queue);
}

void before_posix_send(mqd_t queue) {
  if (is_watched()) say(message_of_posix(queue));
}

void before_system_v_send(int queue) {
  if (is_watched()) say(message_of_system_v(queue));
}

void before_posix_receive(mqd_t queue) {
  if (!is_watched()) return;
  const KeepErrno keep;
  mq_attr state;  // on old systems mq_getattr is in a library of its own
  if (syscall(SYS_mq_getsetattr, queue, nullptr, &state) == 0 &&
      state.mq_curmsgs >= state.mq_maxmsg) {
    say(room_of_posix(queue));
  }
}

/// Messages differ in size, so that less than half of the room is always enough.
void before_system_v_receive(int queue) {
  if (!is_watched()) return;
  const KeepErrno keep;
  msqid_ds state;
  if (msgctl(queue, IPC_STAT, &state) == 0 && state.__msg_cbytes >= state.msg_qbytes / 2) {
    say(room_of_system_v(queue));
  }
}

uint64_t object_of_operations(int semaphores, const sembuf* operations, size_t count) {
  uint64_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    const sembuf& each = operations[i];
    if (each.sem_op > 0) continue;
    if (found != 0) return 0;
    found = object_of_semaphore(each.sem_op < 0 ? kRaised : kZero, semaphores, each.sem_num);
  }
  return found;
}

void before_operations(int semaphores, const sembuf* operations, size_t count) {
  if (!is_watched() || operations == nullptr) return;
  for (size_t i = 0; i < count; ++i) {
    const sembuf& each = operations[i];
    if (each.sem_op == 0) continue;
    say(object_of_semaphore(each.sem_op > 0 ? kRaised : kZero, semaphores, each.sem_num));
  }
}

}  // namespace culprit::collector::sampling
