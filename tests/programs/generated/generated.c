// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A program that generates code while it runs: solve() calls a kernel without unwind tables, on
// rank 1 three times as long, and tells what it is called in the way that is asked for: map, dump
// or object. For x86-64.
#include <elf.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void Kernel(long);

static const unsigned char kCode[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};  // until it is zero
static const char kName[] = "flux_kernel";

// --- what GDB has defined -----------------------------------------------------------------------

struct jit_code_entry {
  struct jit_code_entry *next, *prev;
  const char* file;
  uint64_t bytes;
};
struct jit_descriptor {
  uint32_t version, action;
  struct jit_code_entry *relevant, *first;
};
__attribute__((visibility("default"))) struct jit_descriptor __jit_debug_descriptor = {1, 0, 0, 0};
__attribute__((visibility("default"), noinline)) void __jit_debug_register_code(void) {
  __asm__ volatile("" ::: "memory");
}

struct object {
  Elf64_Ehdr header;
  Elf64_Shdr sections[4];
  Elf64_Sym symbols[2];
  char names[32];
};

static void register_object(void* code) {
  struct object* o = calloc(1, sizeof *o);
  memcpy(o->header.e_ident, ELFMAG, SELFMAG);
  o->header.e_ident[EI_CLASS] = ELFCLASS64;
  o->header.e_ident[EI_DATA] = ELFDATA2LSB;
  o->header.e_ident[EI_VERSION] = o->header.e_version = EV_CURRENT;
  o->header.e_type = ET_REL;
  o->header.e_machine = EM_X86_64;
  o->header.e_ehsize = sizeof o->header;
  o->header.e_shoff = offsetof(struct object, sections);
  o->header.e_shentsize = sizeof o->sections[0];
  o->header.e_shnum = 4;
  o->header.e_shstrndx = 3;
  o->sections[1] = (Elf64_Shdr){.sh_type = SHT_NOBITS,
                                .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                .sh_addr = (uintptr_t)code,
                                .sh_size = sizeof kCode};
  o->sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                .sh_offset = offsetof(struct object, symbols),
                                .sh_size = sizeof o->symbols,
                                .sh_link = 3,
                                .sh_entsize = sizeof o->symbols[0]};
  o->sections[3] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                .sh_offset = offsetof(struct object, names),
                                .sh_size = sizeof o->names};
  o->symbols[1] = (Elf64_Sym){.st_name = 1,
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                              .st_shndx = 1,
                              .st_size = sizeof kCode};
  strcpy(o->names + 1, kName);
  struct jit_code_entry* entry = calloc(1, sizeof *entry);
  entry->file = (const char*)o;
  entry->bytes = sizeof *o;
  __jit_debug_descriptor.first = __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = 1;
  __jit_debug_register_code();
}

// --- what Linux's perf reads --------------------------------------------------------------------

static void write_map(void* code) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE* out = fopen(path, "w");
  fprintf(out, "%lx %lx %s\n", (unsigned long)(uintptr_t)code, (unsigned long)sizeof kCode, kName);
  fclose(out);
}

struct dump_head {
  uint32_t magic, version, bytes, machine, unused, process;
  uint64_t time, flags;
};
struct record_head {
  uint32_t kind, bytes;
  uint64_t time;
};
struct lines {
  struct record_head head;
  uint64_t code, count, address;
  uint32_t line, block;
  char file[8];
};
struct function {
  struct record_head head;
  uint32_t process, thread;
  uint64_t made_at, code, bytes, number;
  char name[sizeof kName];
  unsigned char copy[sizeof kCode];
} __attribute__((packed));

static void write_dump(void* code) {
  char path[64];
  snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
  FILE* out = fopen(path, "w+");
  const struct dump_head head = {.magic = 0x4a695444,
                                 .version = 1,
                                 .bytes = sizeof head,
                                 .machine = EM_X86_64,
                                 .process = (uint32_t)getpid()};
  struct lines lines = {.head = {2, sizeof lines, 0},
                        .code = (uintptr_t)code,
                        .count = 1,
                        .address = (uintptr_t)code,
                        .line = 42,
                        .file = "flux.jl"};
  struct function function = {.head = {0, sizeof function, 0},
                              .made_at = (uintptr_t)code,
                              .code = (uintptr_t)code,
                              .bytes = sizeof kCode};
  memcpy(function.name, kName, sizeof kName);
  memcpy(function.copy, kCode, sizeof kCode);
  fwrite(&head, sizeof head, 1, out);
  fwrite(&lines, sizeof lines, 1, out);
  fwrite(&function, sizeof function, 1, out);
  fflush(out);
  mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0);  // so that it is found
  fclose(out);
}

__attribute__((noinline)) static void solve(Kernel* kernel, long n) {
  kernel(n);
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  void* code =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (argc < 2 || code == MAP_FAILED) return 1;
  memcpy(code, kCode, sizeof kCode);
  if (strcmp(argv[1], "map") == 0) write_map(code);
  if (strcmp(argv[1], "dump") == 0) write_dump(code);
  if (strcmp(argv[1], "object") == 0) register_object(code);
  Kernel* kernel;
  memcpy(&kernel, &code, sizeof kernel);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) {
    solve(kernel, rank == 1 ? 120000000 : 40000000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
