/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of NVTX in every form, told to whatever tool there is; nvtx.py states what must come of
 * it. With the argument "without_memory" a range is the first of a thread that can get no memory.
 * Built twice: on NVIDIA's headers, where they are, and on a stand-in for them. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_client.h"
#endif

#include "work.h"

enum { kSteps = 3, kDeep = 70, kRecorded = 64, kForks = 100 };

static int wrong_levels;

/* Without a tool levels are negative. */
static void expect(int level, int expected) {
  if (level >= 0 && level != expected) ++wrong_levels;
}

static nvtxEventAttributes_t attributes(int type) {
  nvtxEventAttributes_t all;
  memset(&all, 0, sizeof all);
  all.version = NVTX_VERSION;
  all.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  all.messageType = type;
  return all;
}

static void push(nvtxDomainHandle_t domain, const char* text, int level) {
  nvtxEventAttributes_t told = attributes(NVTX_MESSAGE_TYPE_ASCII);
  told.message.ascii = text;
  expect(nvtxDomainRangePushEx(domain, &told), level);
}

static void do_step(nvtxDomainHandle_t domain, nvtxStringHandle_t registered) {
  char name[8] = "step";
  nvtxEventAttributes_t told = attributes(NVTX_MESSAGE_TYPE_REGISTERED);
  told.message.registered = registered;
  expect(nvtxRangePushA(name), 0);
  memset(name, 'x', 4); /* a text that does not live long */
  push(domain, "assemble", 0);
  expect(nvtxDomainRangePushEx(domain, &told), 1);
  WORK_MS(10);
  expect(nvtxDomainRangePop(domain), 1);
  expect(nvtxDomainRangePop(domain), 0);
  expect(nvtxRangePushW(L"gr\u00f6\u00dfer \u221e"), 1);
  expect(nvtxRangePop(), 1);
  expect(nvtxRangePop(), 0);
}

/* Ranges of two domains that do not nest. */
static void do_cross(nvtxDomainHandle_t domain) {
  expect(nvtxRangePushA("first"), 0);
  push(domain, "second", 0);
  expect(nvtxRangePop(), 0);
  WORK_MS(20);
  expect(nvtxDomainRangePop(domain), 0);
}

/* More ranges than a tool keeps: those beyond belong to two domains. */
static void do_deep(nvtxDomainHandle_t domain) {
  for (int i = 0; i < kDeep; ++i) expect(nvtxRangePushA("deep"), i);
  for (int i = kDeep; i-- > 0;) expect(nvtxRangePop(), i);
  push(domain, "outer", 0);
  for (int i = 0; i < kRecorded; ++i) expect(nvtxRangePushA("below"), i);
  push(domain, "beyond", 1);
  expect(nvtxDomainRangePop(domain), 1);
  expect(nvtxDomainRangePop(domain), 0); /* "outer": a place is free, and "below" still deeper */
  expect(nvtxRangePushA("beyond"), kRecorded);
  for (int i = kRecorded + 1; i-- > 0;) expect(nvtxRangePop(), i);
}

static volatile int registering = 1;

static void* register_strings(void* domain) {
  char name[16];
  for (unsigned i = 0; registering; i = (i + 1) % 2000) {
    snprintf(name, sizeof name, "s%u", i);
    nvtxDomainRegisterStringA(domain, name);
  }
  return NULL;
}

/* Children made while other threads are inside of the tool, which are not there in the child. */
static int do_forks(nvtxDomainHandle_t domain) {
  pthread_t threads[2];
  int hung = 0;
  for (int i = 0; i < 2; ++i) {
    if (pthread_create(&threads[i], NULL, register_strings, domain) != 0) abort();
  }
  for (int i = 0; i < kForks && hung == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      nvtxDomainRegisterStringA(nvtxDomainCreateA("child"), "of a child");
      nvtxRangePushA("in a child");
      nvtxRangePop();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    hung += status != 0;
  }
  registering = 0;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return hung;
}

/* First uses everything that has no part in it. */
static void* without_memory(void* domain) {
  for (size_t size = 1 << 20; size > 8; size /= 2) {
    while (malloc(size) != NULL) continue;
  }
  nvtxRangePushA("without memory");
  nvtxDomainRegisterStringA(domain, "without memory");
  nvtxDomainRegisterStringA(nvtxDomainCreateA("without memory"), "without memory");
  nvtxRangePop();
  const char lives[] = "ranges: lives\n";
  _exit(write(1, lives, sizeof lives - 1) < 0);
}

static int use_up_memory(void) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  const struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  pthread_t thread;
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  if (pthread_create(&thread, NULL, without_memory, domain) != 0) return 1;
  pthread_join(thread, NULL);
  return 1;
}

static void* on_thread(void* unused) {
  for (int i = 0; i < kSteps; ++i) {
    expect(nvtxRangePushA("on a thread"), 0);
    expect(nvtxRangePop(), 0);
  }
  return unused;
}

int main(int argc, char** argv) {
  nvtxRangePushA("begun before MPI");
  MPI_Init(&argc, &argv);
  nvtxRangePop();
  nvtxRangePop(); /* of nothing */
  if (argc > 1 && strcmp(argv[1], "without_memory") == 0) return use_up_memory();
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  const nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "kept");
  for (int i = 0; i < kSteps; ++i) do_step(domain, registered);
  do_cross(domain);
  do_deep(domain);
  const nvtxRangeId_t ranges[] = {nvtxRangeStartA("one"), nvtxRangeStartA("another")};
  if (ranges[0] != 0 && ranges[0] == ranges[1]) ++wrong_levels;
  for (int i = 0; i < 2; ++i) nvtxRangeEnd(ranges[i]);
  for (int i = 0; i < 3; ++i) nvtxMarkA("here");
  pthread_t thread;
  if (pthread_create(&thread, NULL, on_thread, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  const int hung = do_forks(domain);
  MPI_Finalize();
  printf("ranges: %d wrong, %d children hung\n", wrong_levels, hung);
  return 0;
}
