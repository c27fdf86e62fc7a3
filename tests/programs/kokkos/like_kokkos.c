// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Does what Kokkos does with a tool, by its published interface: it opens the library that
// KOKKOS_TOOLS_LIBS names, looks functions up by their names, and calls those that there are.
// Rank 1 works longer in the kernel than rank 0.
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

struct Space {
  char name[64];
};
struct Settings {
  _Bool requires_global_fencing;
  _Bool reserved[255];
};

static void* g_tool;

static void* find(const char* name) {
  return g_tool ? dlsym(g_tool, name) : NULL;
}

static void kernel(const char* label, int milliseconds) {
  void (*begin)(const char*, uint32_t, uint64_t*) = find("kokkosp_begin_parallel_for");
  void (*end)(uint64_t) = find("kokkosp_end_parallel_for");
  uint64_t number = 7;
  if (begin) begin(label, 1, &number);
  WORK_MS(milliseconds);
  if (end) end(number);
}

static void fence(const char* label) {
  void (*begin)(const char*, uint32_t, uint64_t*) = find("kokkosp_begin_fence");
  void (*end)(uint64_t) = find("kokkosp_end_fence");
  uint64_t number = 7;
  if (begin) begin(label, 1, &number);
  WORK_MS(20);
  if (end) end(number);
}

static void copy(void) {
  void (*begin)(struct Space, const char*, const void*, struct Space, const char*, const void*,
                uint64_t) = find("kokkosp_begin_deep_copy");
  void (*end)(void) = find("kokkosp_end_deep_copy");
  struct Space host, device;
  memset(&host, 'h', sizeof host);
  memset(&device, 'd', sizeof device);
  if (begin) begin(device, "rho", NULL, host, "rho_mirror", NULL, 64);
  WORK_MS(20);
  if (end) end();
}

int main(int argc, char** argv) {
  const char* const library = getenv("KOKKOS_TOOLS_LIBS");
  if (library) g_tool = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void (*init)(int, uint64_t, uint32_t, void*) = find("kokkosp_init_library");
  if (init) init(0, 20210623, 0, NULL);
  void (*request)(uint32_t, struct Settings*) = find("kokkosp_request_tool_settings");
  struct Settings settings = {1, {0}};
  if (request) request(1, &settings);
  if (g_tool && settings.requires_global_fencing) puts("fences around each kernel");
  void (*push)(const char*) = find("kokkosp_push_profile_region");
  void (*pop)(void) = find("kokkosp_pop_profile_region");
  for (int step = 0; step < 5; ++step) {
    if (push) push("timestep");
    kernel("advance<Fluid>", rank == 1 ? 120 : 20);
    fence("after advance");
    copy();
    if (pop) pop();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void (*finish)(void) = find("kokkosp_finalize_library");
  if (finish) finish();
  MPI_Finalize();
  puts(g_tool ? "with a tool" : "alone");
  return 0;
}
