// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of communicators (comms.h): a fixed array of buckets with chains that only grow. A
// reader takes no lock; a forgotten entry is reused for a later handle and never freed, so a reader
// that meets it sees at worst another handle's key. Writers hold a mutex for a few stores.

#include "collector/mpi/groups/comms.h"

#include <atomic>
#include <mutex>
#include <new>

#include "collector/mpi/arguments.h"
#include "collector/mpi/groups/comm_definition.h"
#include "collector/mpi/groups/neighborhood.h"
#include "collector/mpi/groups/topology.h"
#include "collector/mpi/world.h"

namespace culprit::collector::mpi {

struct HandleEntry {
  std::atomic<bool> live{false};
  // A reader may pass while an entry is reused; the handle that it looks for is not in the entry
  // then.
  std::atomic<HandleKind> kind{HandleKind::comm};
  std::atomic<uint64_t> key{0};
  Comm comm;
  std::atomic<const Neighborhood*> neighborhood{nullptr};
  HandleEntry* next = nullptr;

  uint64_t number = 0;

  void set(HandleKind new_kind, uint64_t new_key, const Comm& new_comm, uint64_t new_number) {
    live.store(false, std::memory_order_release);
    delete neighborhood.exchange(nullptr, std::memory_order_acq_rel);
    kind.store(new_kind, std::memory_order_relaxed);
    key.store(new_key, std::memory_order_relaxed);
    comm = new_comm;
    number = new_number;
    live.store(true, std::memory_order_release);
  }
  bool is(HandleKind wanted_kind, uint64_t wanted_key) const {
    return live.load(std::memory_order_acquire) &&
           key.load(std::memory_order_relaxed) == wanted_key &&
           kind.load(std::memory_order_relaxed) == wanted_kind;
  }
};

namespace {

/// Enough for some tens of thousands of live communicators; more make their lookup slower.
constexpr size_t kBuckets = 4096;
std::atomic<HandleEntry*> buckets[kBuckets];
std::mutex writers;
std::atomic<uint32_t> next_id{trace::kRawCommSelf + 1};

std::atomic<HandleEntry*>& bucket_of(HandleKind kind, uint64_t key) {
  const uint64_t mixed = (key ^ (key >> 17) ^ static_cast<uint64_t>(kind)) * 0x9e3779b97f4a7c15u;
  return buckets[mixed >> 52];
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
    if (entry->is(kind, key)) return entry;
  }
  return nullptr;
}

/// Puts a handle into an existing entry: its own, if the handle was freed without our knowledge, or
/// a forgotten one.
bool reuse_entry(HandleKind kind, uint64_t key, const Comm& comm, uint64_t number) {
  std::lock_guard lock(writers);
  HandleEntry* forgotten = nullptr;
  HandleEntry* entry = bucket_of(kind, key).load(std::memory_order_relaxed);
  for (; entry; entry = entry->next) {
    if (entry->is(kind, key)) break;
    if (!entry->live.load(std::memory_order_relaxed)) forgotten = entry;
  }
  if (!entry) entry = forgotten;
  if (entry) entry->set(kind, key, comm, number);
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
  world_begins();
}

void forget_predefined_comms() {
  world_ends();
  for (const MPI_Comm handle : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    forget(find_live(HandleKind::comm, key_of(handle)));
  }
}

Comm comm_of(ThreadLog& log, uint64_t time, MPI_Comm handle) {
  if (HandleEntry* entry = find_live(HandleKind::comm, key_of(handle))) return entry->comm;
  if (handle == MPI_COMM_NULL) return Comm{};  // the real call will complain
  CommOrigin birth;
  birth.origin = trace::RawCommOrigin::group_only;
  return define_comm(log, time, handle, birth);
}

Comm define_comm(ThreadLog& log, uint64_t time, MPI_Comm handle, const CommOrigin& birth) {
  Comm comm = describe(handle);
  comm.id = next_id.fetch_add(1, std::memory_order_relaxed);
  write_definition(log, time, handle, comm, birth);
  write_topology(log, time, handle, comm);
  remember_handle(HandleKind::comm, key_of(handle), comm);
  return comm;
}

void remember_handle(HandleKind kind, uint64_t key, const Comm& comm, uint64_t number) {
  if (reuse_entry(kind, key, comm, number)) return;
  auto* entry = new (std::nothrow) HandleEntry;
  if (!entry) return;
  entry->set(kind, key, comm, number);
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

uint64_t number_of(const HandleEntry* entry) {
  return entry->number;
}

std::atomic<const Neighborhood*>* neighborhood_place(MPI_Comm handle) {
  HandleEntry* const entry = find_live(HandleKind::comm, key_of(handle));
  return entry ? &entry->neighborhood : nullptr;
}

void forget(HandleEntry* entry) {
  if (!entry) return;
  std::lock_guard lock(writers);
  entry->live.store(false, std::memory_order_release);
}

}  // namespace culprit::collector::mpi
