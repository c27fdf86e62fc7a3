// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of communicators (comms.h): a fixed array of buckets with chains that only grow. A
// reader takes no lock; an entry that has been forgotten is reused by a later one, and never freed,
// so a reader that meets it sees at worst a key that is not his. Writers hold a mutex for a few
// stores.

#include "collector/mpi/comms.h"

#include <atomic>
#include <mutex>
#include <new>

#include "collector/mpi/arguments.h"
#include "collector/mpi/rank_list.h"

namespace culprit::collector::mpi {

struct HandleEntry {
  std::atomic<bool> live{false};
  HandleKind kind = HandleKind::comm;
  uint64_t key = 0;
  Comm comm;
  HandleEntry* next = nullptr;

  void set(HandleKind new_kind, uint64_t new_key, const Comm& new_comm) {
    live.store(false, std::memory_order_release);
    kind = new_kind;
    key = new_key;
    comm = new_comm;
    live.store(true, std::memory_order_release);
  }
};

namespace {

constexpr size_t kBuckets = 256;
std::atomic<HandleEntry*> buckets[kBuckets];
std::mutex writers;
std::atomic<uint32_t> next_id{trace::kRawCommSelf + 1};
/// MPI_Init was called. A program of sessions alone has no MPI_COMM_WORLD: to use it is an error.
std::atomic<bool> has_world{false};

std::atomic<HandleEntry*>& bucket_of(HandleKind kind, uint64_t key) {
  const uint64_t mixed = (key ^ (key >> 17) ^ static_cast<uint64_t>(kind)) * 0x9e3779b97f4a7c15u;
  return buckets[mixed >> 56];
}

/// Adds the world ranks of a group; ~0 for processes outside this world, or without one.
void add_world_ranks(RankList& list, MPI_Group group, MPI_Group world, int size) {
  constexpr int kChunk = 64;
  int ranks[kChunk], translated[kChunk];
  for (int start = 0; start < size; start += kChunk) {
    const int n = size - start < kChunk ? size - start : kChunk;
    for (int i = 0; i < n; ++i) ranks[i] = start + i;
    const bool known =
        world != MPI_GROUP_NULL &&
        PMPI_Group_translate_ranks(group, n, ranks, world, translated) == MPI_SUCCESS;
    for (int i = 0; i < n; ++i) {
      const bool member = known && translated[i] != MPI_UNDEFINED;
      list.add(member ? static_cast<uint32_t>(translated[i]) : ~0u);
    }
  }
}

void write_definition(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm,
                      uint32_t parent, trace::RawCommOrigin origin) {
  RankList list(log, time, comm.id);
  list.define(static_cast<uint16_t>(origin), parent, static_cast<uint32_t>(comm.size),
              static_cast<uint32_t>(comm.remote_size));
  MPI_Group world = MPI_GROUP_NULL, group;
  if (has_world.load(std::memory_order_acquire)) PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(handle, &group);
  add_world_ranks(list, group, world, comm.size);
  PMPI_Group_free(&group);
  if (comm.inter()) {
    PMPI_Comm_remote_group(handle, &group);
    add_world_ranks(list, group, world, comm.remote_size);
    PMPI_Group_free(&group);
  }
  if (world != MPI_GROUP_NULL) PMPI_Group_free(&world);
  list.flush();
}

Comm describe(MPI_Comm handle) {
  Comm comm;
  int inter = 0;
  PMPI_Comm_rank(handle, &comm.rank);
  PMPI_Comm_size(handle, &comm.size);
  PMPI_Comm_test_inter(handle, &inter);
  if (inter) PMPI_Comm_remote_size(handle, &comm.remote_size);
  return comm;
}

HandleEntry* find_live(HandleKind kind, uint64_t key) {
  HandleEntry* entry = bucket_of(kind, key).load(std::memory_order_acquire);
  for (; entry; entry = entry->next) {
    if (entry->live.load(std::memory_order_acquire) && entry->key == key && entry->kind == kind) {
      return entry;
    }
  }
  return nullptr;
}

/// Puts a handle into an entry that exists: one of its own, if it was freed behind our back, or a
/// forgotten one.
bool reuse_entry(HandleKind kind, uint64_t key, const Comm& comm) {
  std::lock_guard lock(writers);
  HandleEntry* forgotten = nullptr;
  HandleEntry* entry = bucket_of(kind, key).load(std::memory_order_relaxed);
  for (; entry; entry = entry->next) {
    const bool live = entry->live.load(std::memory_order_relaxed);
    if (live && entry->key == key && entry->kind == kind) break;
    if (!live) forgotten = entry;
  }
  if (!entry) entry = forgotten;
  if (entry) entry->set(kind, key, comm);
  return entry != nullptr;
}

}  // namespace

void register_predefined_comms() {
  Comm world = describe(MPI_COMM_WORLD);
  world.id = trace::kRawCommWorld;
  remember_handle(HandleKind::comm, key_of(MPI_COMM_WORLD), world);
  Comm self = describe(MPI_COMM_SELF);
  self.id = trace::kRawCommSelf;
  remember_handle(HandleKind::comm, key_of(MPI_COMM_SELF), self);
  has_world.store(true, std::memory_order_release);
}

Comm comm_of(ThreadLog& log, uint64_t time, MPI_Comm handle) {
  if (HandleEntry* entry = find_live(HandleKind::comm, key_of(handle))) return entry->comm;
  if (handle == MPI_COMM_NULL) return Comm{};  // the real call will complain
  int inter =
      0;  // the parent of a spawned program comes out of MPI_Comm_get_parent, which is local
  PMPI_Comm_test_inter(handle, &inter);
  const auto origin = inter ? trace::RawCommOrigin::spawned : trace::RawCommOrigin::group_only;
  return define_comm(log, time, handle, trace::kRawCommWorld, origin);
}

Comm define_comm(ThreadLog& log, uint64_t time, MPI_Comm handle, uint32_t parent,
                 trace::RawCommOrigin origin) {
  Comm comm = describe(handle);
  comm.id = next_id.fetch_add(1, std::memory_order_relaxed);
  write_definition(log, time, handle, comm, parent, origin);
  remember_handle(HandleKind::comm, key_of(handle), comm);
  return comm;
}

void remember_handle(HandleKind kind, uint64_t key, const Comm& comm) {
  if (reuse_entry(kind, key, comm)) return;
  auto* entry = new (std::nothrow) HandleEntry;
  if (!entry) return;
  entry->set(kind, key, comm);
  auto& bucket = bucket_of(kind, key);
  std::lock_guard lock(writers);
  entry->next = bucket.load(std::memory_order_relaxed);
  bucket.store(entry, std::memory_order_release);
}

HandleEntry* find_handle(HandleKind kind, uint64_t key, Comm& comm) {
  HandleEntry* entry = find_live(kind, key);
  if (entry) comm = entry->comm;
  return entry;
}

void forget(HandleEntry* entry) {
  if (!entry) return;
  std::lock_guard lock(writers);
  entry->live.store(false, std::memory_order_release);
}

}  // namespace culprit::collector::mpi
