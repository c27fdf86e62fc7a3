/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Lets a program tell culprit what it is doing: regions, phases, iterations, and when to record.
 * For C (C99 and later) and C++; include/culprit.f90 is the same for Fortran.
 *
 * There is nothing to link. Under `culprit run` the first call finds the collector in the process;
 * without culprit, or linked statically, every call is a load and two branches. On systems with a
 * glibc older than 2.34 link with -ldl, or the calls find nothing.
 *
 * Ends belong to the innermost begin of the same kind and name on the same thread. A name is copied
 * at its first use (at most 255 bytes count). All functions may be called by any thread, also
 * before MPI_Init: what comes before the collector sees MPI or OpenMP is just not recorded. */
#ifndef CULPRIT_H
#define CULPRIT_H

#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Not instrumented in programs compiled with -finstrument-functions. */
#define CULPRIT_QUIET __attribute__((no_instrument_function))
#define CULPRIT_CALL static inline CULPRIT_QUIET

/* What the collector exports, as `culprit_calls_1`: only ever extended at its end. */
struct culprit_calls {
  unsigned version;
  void (*region_begin)(const char* name, size_t length);
  void (*region_end)(const char* name, size_t length);
  void (*phase_begin)(const char* name, size_t length);
  void (*phase_end)(const char* name, size_t length);
  void (*iteration_begin)(const char* loop, size_t length, long long number);
  void (*iteration_end)(const char* loop, size_t length);
  void (*recording)(int on);
};

/* A weak reference: the program needs no library that has dlsym, and takes none from an archive. */
static void* culprit_dlsym_(void* handle, const char* symbol) __attribute__((weakref("dlsym")));
/* Found yet: null; not there: a table without functions. Each source file has its own. */
static const struct culprit_calls* culprit_found_ __attribute__((unused));

CULPRIT_CALL const struct culprit_calls* culprit_find_(void) {
  static const struct culprit_calls absent = {0, 0, 0, 0, 0, 0, 0, 0};
  const struct culprit_calls* calls = 0;
  if (culprit_dlsym_) {
    calls = (const struct culprit_calls*)culprit_dlsym_((void*)0, "culprit_calls_1");
  }
  if (!calls) calls = &absent;
  __atomic_store_n(&culprit_found_, calls, __ATOMIC_RELEASE);
  return calls;
}

CULPRIT_CALL const struct culprit_calls* culprit_calls_(void) {
  const struct culprit_calls* calls = __atomic_load_n(&culprit_found_, __ATOMIC_ACQUIRE);
  return calls ? calls : culprit_find_();
}

/* A part of the program, of any size. */
CULPRIT_CALL void culprit_region_begin(const char* name) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->region_begin) calls->region_begin(name, strlen(name));
}
CULPRIT_CALL void culprit_region_end(const char* name) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->region_end) calls->region_end(name, strlen(name));
}

/* One of the few large stages of a run (setup, solve, output). The report has a line for each, and
 * `culprit run --phase NAME` records nothing else. */
CULPRIT_CALL void culprit_phase_begin(const char* name) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->phase_begin) calls->phase_begin(name, strlen(name));
}
CULPRIT_CALL void culprit_phase_end(const char* name) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->phase_end) calls->phase_end(name, strlen(name));
}

/* One turn of a loop (a time step). The report compares them and names the slowest. */
CULPRIT_CALL void culprit_iteration_begin(const char* loop, long long number) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->iteration_begin) calls->iteration_begin(loop, strlen(loop), number);
}
CULPRIT_CALL void culprit_iteration_end(const char* loop) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->iteration_end) calls->iteration_end(loop, strlen(loop));
}

/* For the whole process, all its threads: while off, only the messages are recorded that others
 * need to be understood. MPI_Pcontrol(0) and MPI_Pcontrol(1) do the same. */
CULPRIT_CALL void culprit_recording_off(void) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->recording) calls->recording(0);
}
CULPRIT_CALL void culprit_recording_on(void) {
  const struct culprit_calls* calls = culprit_calls_();
  if (calls->recording) calls->recording(1);
}

#ifdef __cplusplus
} /* extern "C" */

/* Scopes, which also end when an exception passes. A name must live as long as its scope. */
namespace culprit {

class Region {
 public:
  CULPRIT_QUIET explicit Region(const char* name) : name_(name) { culprit_region_begin(name_); }
  CULPRIT_QUIET ~Region() { culprit_region_end(name_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  const char* name_;
};

class Phase {
 public:
  CULPRIT_QUIET explicit Phase(const char* name) : name_(name) { culprit_phase_begin(name_); }
  CULPRIT_QUIET ~Phase() { culprit_phase_end(name_); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  const char* name_;
};

class Iteration {
 public:
  CULPRIT_QUIET Iteration(const char* loop, long long number) : loop_(loop) {
    culprit_iteration_begin(loop_, number);
  }
  CULPRIT_QUIET ~Iteration() { culprit_iteration_end(loop_); }
  Iteration(const Iteration&) = delete;
  Iteration& operator=(const Iteration&) = delete;

 private:
  const char* loop_;
};

}  // namespace culprit
#endif /* __cplusplus */

#endif /* CULPRIT_H */
