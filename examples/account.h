/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What an example did and when, by its own clock and OpenCL's own profiling: from this a test knows
 * the right answer, however fast or busy the machine is. Kept only with EXAMPLE_ACCOUNT in the
 * environment, and printed when the device is closed, in nanoseconds of CLOCK_MONOTONIC:
 *
 *   account: phase <rank> <name> <begin> <end>
 *   account: operation <rank> <queue> <handed over> <begin> <end>
 *
 * It is part of opencl_work.h. */
#ifndef CULPRIT_EXAMPLES_ACCOUNT_H
#define CULPRIT_EXAMPLES_ACCOUNT_H

#include <time.h>

enum { ACCOUNT_MOST = 256 };

typedef struct {
  const char* name; /* of a phase */
  cl_command_queue queue;
  cl_event event;
  long long begin, end; /* of a phase, or of the call that handed the operation over */
} AccountEntry;

static struct {
  int rank;
  int count;
  AccountEntry entries[ACCOUNT_MOST];
} account;

static inline int account_is_kept(void) {
  return getenv("EXAMPLE_ACCOUNT") != NULL;
}

static inline long long account_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static inline void account_add(AccountEntry entry) {
  if (account.count < ACCOUNT_MOST) account.entries[account.count++] = entry;
}

static inline void account_operation(cl_command_queue queue, cl_event event, long long begin,
                                     long long end) {
  CL_CHECK(clRetainEvent(event));
  account_add((AccountEntry){NULL, queue, event, begin, end});
}

/* A statement that takes its time. */
#define PHASE(name, statement)                                              \
  do {                                                                      \
    const long long begin_ = account_now();                                 \
    statement;                                                              \
    if (account_is_kept()) {                                                \
      account_add((AccountEntry){name, NULL, NULL, begin_, account_now()}); \
    }                                                                       \
  } while (0)

/* What has to be added to times of the device: operations are queued inside of the call that hands
 * them over, and of the shortest such call it is known best. */
static inline long long account_clock_offset(void) {
  const AccountEntry* best = NULL;
  for (int i = 0; i < account.count; ++i) {
    const AccountEntry* const entry = &account.entries[i];
    if (entry->event == NULL) continue;
    if (best == NULL || entry->end - entry->begin < best->end - best->begin) best = entry;
  }
  if (best == NULL) return 0;
  const long long queued = (long long)cl_time(best->event, CL_PROFILING_COMMAND_QUEUED);
  return best->begin + (best->end - best->begin) / 2 - queued;
}

static inline void account_print(void) {
  const long long offset = account_clock_offset();
  for (int i = 0; i < account.count; ++i) {
    const AccountEntry* const entry = &account.entries[i];
    if (entry->event == NULL) {
      printf("account: phase %d %s %lld %lld\n", account.rank, entry->name, entry->begin,
             entry->end);
      continue;
    }
    const long long begin = (long long)cl_time(entry->event, CL_PROFILING_COMMAND_START);
    const long long end = (long long)cl_time(entry->event, CL_PROFILING_COMMAND_END);
    printf("account: operation %d %p %lld %lld %lld\n", account.rank, (void*)entry->queue,
           entry->begin, begin + offset, end + offset);
    CL_CHECK(clReleaseEvent(entry->event));
  }
}

#endif
