// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions of glibc as they were in 2012, for libraries that go into programs: they need no symbol
// newer than GLIBC_2.17, so that what is built on a new system runs on all of the last ten years.
// Those that glibc has moved from libpthread and libdl since are bound to their first versions,
// which every glibc has; those that are newer are made of system calls. All are hidden, so that
// only the library that they are linked into uses them, and unused ones go. cmake/CheckGlibc.cmake
// finds what is missing here.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SINCE(version) "GLIBC_" version
#else  // the first glibc for other machines had all of them
#define SINCE(version) "GLIBC_2.17"
#endif

/// Calls the first version of a function.
#define FIRST_VERSION(result, name, version, parameters, arguments)         \
  extern "C" result culprit_first_##name parameters;                        \
  asm(".symver culprit_first_" #name "," #name "@" SINCE(version));         \
  extern "C" __attribute__((visibility("hidden"))) result name parameters { \
    return culprit_first_##name arguments;                                  \
  }

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

// Types of glibc's headers are not needed, and their declarations would contradict these.
using Key = unsigned;

FIRST_VERSION(int, dladdr, "2.2.5", (const void* address, void* info), (address, info))
FIRST_VERSION(int, dladdr1, "2.3.3", (const void* address, void* info, void** extra, int flags),
              (address, info, extra, flags))
FIRST_VERSION(char*, dlerror, "2.2.5", (), ())
FIRST_VERSION(void*, dlopen, "2.2.5", (const char* file, int mode), (file, mode))
FIRST_VERSION(void*, dlvsym, "2.2.5", (void* handle, const char* name, const char* version),
              (handle, name, version))
FIRST_VERSION(int, pthread_attr_getstacksize, "2.2.5", (const void* attributes, size_t* size),
              (attributes, size))
FIRST_VERSION(int, pthread_attr_setstacksize, "2.2.5", (void* attributes, size_t size),
              (attributes, size))
FIRST_VERSION(int, pthread_detach, "2.2.5", (unsigned long thread), (thread))
FIRST_VERSION(void*, pthread_getspecific, "2.2.5", (Key key), (key))
FIRST_VERSION(int, pthread_key_create, "2.2.5", (Key * key, void (*end)(void*)), (key, end))
FIRST_VERSION(int, pthread_setname_np, "2.12", (unsigned long thread, const char* name),
              (thread, name))
FIRST_VERSION(int, pthread_setspecific, "2.2.5", (Key key, const void* value), (key, value))

#ifndef CULPRIT_HAS_STAND_INS
// The preload library stands in for these itself.
FIRST_VERSION(void*, dlsym, "2.2.5", (void* handle, const char* name), (handle, name))
FIRST_VERSION(int, pthread_create, "2.2.5",
              (unsigned long* thread, const void* attributes, void* (*start)(void*),
               void* argument),
              (thread, attributes, start, argument))
FIRST_VERSION(int, pthread_sigmask, "2.2.5", (int how, const void* set, void* old), (how, set, old))

extern "C" int culprit_first_pthread_cond_timedwait(void* condition, void* mutex,
                                                    const timespec* until);
asm(".symver culprit_first_pthread_cond_timedwait,pthread_cond_timedwait@" SINCE("2.3.2"));

/// By the clock that conditions wait on by default.
HIDDEN int pthread_cond_clockwait(void* condition, void* mutex, clockid_t clock,
                                  const timespec* until) {
  constexpr int64_t kSecond = 1'000'000'000;
  timespec now{}, wall{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  const int64_t left = (until->tv_sec - now.tv_sec) * kSecond + until->tv_nsec - now.tv_nsec;
  const int64_t nanos = wall.tv_nsec + (left > 0 ? left : 0);
  const timespec then{wall.tv_sec + nanos / kSecond, nanos % kSecond};
  return culprit_first_pthread_cond_timedwait(condition, mutex, &then);
}
#endif

HIDDEN int stat(const char* path, struct stat* status) {
  return static_cast<int>(syscall(SYS_newfstatat, -100 /* AT_FDCWD */, path, status, 0));
}
HIDDEN int fstat(int file, struct stat* status) {
  return static_cast<int>(syscall(SYS_fstat, file, status));
}

// What the C++ library refers to, and nothing here calls.
HIDDEN int getentropy(void* buffer, size_t length) {
  return syscall(SYS_getrandom, buffer, length, 0) == static_cast<long>(length) ? 0 : -1;
}
HIDDEN uint32_t arc4random() {
  uint32_t number = 0;
  getentropy(&number, sizeof number);
  return number;
}
/// Whether counters of references may do without atomic operations: never here.
HIDDEN char __libc_single_threaded;
char __libc_single_threaded = 0;
