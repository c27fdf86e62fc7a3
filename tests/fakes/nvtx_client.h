/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program's side of NVTX 3, as much of it as the tests need: it stands in for NVIDIA's headers on
 * machines without them. Calls do nothing until a tool has put functions of its own into the tables
 * that it is given (gpu/nvtx/abi.h says the same from the tool's side). */
#ifndef CULPRIT_FAKES_NVTX_CLIENT_H
#define CULPRIT_FAKES_NVTX_CLIENT_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
enum {
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
};

typedef struct nvtxDomainRegistration* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration* nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;
typedef struct {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  uint64_t payload;
  int32_t messageType;
  union {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
  } message;
} nvtxEventAttributes_t;

typedef void (*NvtxFake)(void);
enum { NVTX_FAKE_COUNT = 16 };
static NvtxFake nvtx_fake[2][NVTX_FAKE_COUNT]; /* core, core2 */
static NvtxFake* nvtx_fake_places[2][NVTX_FAKE_COUNT];

static int nvtx_fake_functions_of(int module, NvtxFake*** places, unsigned* count) {
  if (module != 1 && module != 5) return 0;
  *places = nvtx_fake_places[module == 5];
  *count = NVTX_FAKE_COUNT;
  return 1;
}

static const void* nvtx_fake_table(uint32_t number) {
  static const struct {
    size_t size;
    int (*functions_of)(int, NvtxFake***, unsigned*);
  } callbacks = {sizeof callbacks, nvtx_fake_functions_of};
  return number == 1 ? &callbacks : NULL;
}

static void nvtx_fake_start(void) {
  for (int i = 0; i < 2 * NVTX_FAKE_COUNT; ++i) {
    nvtx_fake_places[i / NVTX_FAKE_COUNT][i % NVTX_FAKE_COUNT] =
        &nvtx_fake[i / NVTX_FAKE_COUNT][i % NVTX_FAKE_COUNT];
  }
  const char* const path = getenv("NVTX_INJECTION64_PATH");
  void* const tool = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
  void* const entry = tool != NULL ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
  int (*start)(const void* (*)(uint32_t));
  *(void**)&start = entry;
  if (start != NULL) start(nvtx_fake_table);
}

static inline NvtxFake nvtx_fake_function(int module, int number) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, nvtx_fake_start);
  return nvtx_fake[module][number];
}

#define NVTX_FAKE(result, name, module, number, absent, types, arguments)          \
  static inline result name types {                                                \
    result(*function) types = (result(*) types)nvtx_fake_function(module, number); \
    return function != NULL ? function arguments : absent;                         \
  }
#define NVTX_FAKE_VOID(name, module, number, types, arguments)                 \
  static inline void name types {                                              \
    void(*function) types = (void(*) types)nvtx_fake_function(module, number); \
    if (function != NULL) function arguments;                                  \
  }

NVTX_FAKE_VOID(nvtxMarkA, 0, 2, (const char* message), (message))
NVTX_FAKE(nvtxRangeId_t, nvtxRangeStartA, 0, 5, 0, (const char* message), (message))
NVTX_FAKE_VOID(nvtxRangeEnd, 0, 7, (nvtxRangeId_t id), (id))
NVTX_FAKE(int, nvtxRangePushA, 0, 9, -2, (const char* message), (message))
NVTX_FAKE(int, nvtxRangePushW, 0, 10, -2, (const wchar_t* message), (message))
NVTX_FAKE(int, nvtxRangePop, 0, 11, -2, (void), ())
NVTX_FAKE(int, nvtxDomainRangePushEx, 1, 4, -2,
          (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes),
          (domain, attributes))
NVTX_FAKE(int, nvtxDomainRangePop, 1, 5, -2, (nvtxDomainHandle_t domain), (domain))
NVTX_FAKE(nvtxStringHandle_t, nvtxDomainRegisterStringA, 1, 10, NULL,
          (nvtxDomainHandle_t domain, const char* text), (domain, text))
NVTX_FAKE(nvtxDomainHandle_t, nvtxDomainCreateA, 1, 12, NULL, (const char* name), (name))

#endif
