// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Message queues and semaphores that the system keeps, POSIX's and System V's: their objects, and
// records of threads that let others go on, made before they do. MT: safe. Async-signal-safe.
#pragma once

#include <mqueue.h>
#include <sys/sem.h>

#include <cstddef>
#include <cstdint>

namespace culprit::collector::sampling {

/// The object for which a thread waits that receives from the queue, or sends to it while it is
/// full. 0: unknown.
uint64_t message_of_posix(mqd_t queue);
uint64_t room_of_posix(mqd_t queue);
uint64_t message_of_system_v(int queue);
uint64_t room_of_system_v(int queue);

/// A message is about to be sent.
void before_posix_send(mqd_t queue);
void before_system_v_send(int queue);
/// One is about to be received: if the queue is full, a thread may wait for the room.
void before_posix_receive(mqd_t queue);
void before_system_v_receive(int queue);

/// The object for which a thread waits that has these operations carried out, all at once: the
/// first semaphore of which there may be too little, or which is to be zero. 0: none, or several
/// that it may have waited for.
uint64_t object_of_operations(int semaphores, const sembuf* operations, size_t count);
/// They are about to be carried out: semaphores are raised, or come closer to zero.
void before_operations(int semaphores, const sembuf* operations, size_t count);

}  // namespace culprit::collector::sampling
