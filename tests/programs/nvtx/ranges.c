/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of NVTX in every form, told to whatever tool there is; nvtx.py states what must come of
 * it. Built twice: on NVIDIA's headers, where they are, and on a stand-in for them. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifdef WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_client.h"
#endif

#include "work.h"

enum { kSteps = 3, kDeep = 70 };

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
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  const nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "kept");
  for (int i = 0; i < kSteps; ++i) do_step(domain, registered);
  do_cross(domain);
  for (int i = 0; i < kDeep; ++i) expect(nvtxRangePushA("deep"), i);
  for (int i = kDeep; i-- > 0;) expect(nvtxRangePop(), i);
  const nvtxRangeId_t ranges[] = {nvtxRangeStartA("one"), nvtxRangeStartA("another")};
  if (ranges[0] != 0 && ranges[0] == ranges[1]) ++wrong_levels;
  for (int i = 0; i < 2; ++i) nvtxRangeEnd(ranges[i]);
  for (int i = 0; i < 3; ++i) nvtxMarkA("here");
  pthread_t thread;
  if (pthread_create(&thread, NULL, on_thread, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  MPI_Finalize();
  printf("ranges: %d wrong\n", wrong_levels);
  return 0;
}
