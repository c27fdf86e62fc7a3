// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of known sets (rank_set.h): buckets with chains that only grow at their head. Its size
// is bounded: once it is full, a program whose counts never repeat defines its sets anew each time.

#include "collector/mpi/groups/rank_set.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace culprit::collector::mpi {
namespace {

constexpr size_t kBuckets = 1024;
constexpr size_t kMostRemembered = size_t{2} << 20;  ///< bytes
std::atomic<const KnownSet*> buckets[kBuckets];
std::atomic<size_t> remembered{0};
std::atomic<uint32_t> last_id{0};

std::atomic<const KnownSet*>& bucket_of(uint64_t hash) {
  return buckets[hash % kBuckets];
}

KnownSet* make_room(uint64_t hash, uint32_t count, RankSet id) {
  const size_t bytes = sizeof(KnownSet) + count * sizeof(RankChunk);
  if (remembered.load(std::memory_order_relaxed) + bytes > kMostRemembered) return nullptr;
  void* const memory = std::malloc(bytes);
  if (!memory) return nullptr;
  remembered.fetch_add(bytes, std::memory_order_relaxed);
  return new (memory) KnownSet{hash, count, id, nullptr};
}

}  // namespace

const KnownSet* first_known_set(uint64_t hash) {
  return bucket_of(hash).load(std::memory_order_acquire);
}

SetDefinition::SetDefinition(ThreadLog& log, uint64_t time, uint64_t hash, uint32_t chunks)
    : log_(log),
      time_(time),
      id_(RankSet{last_id.fetch_add(1, std::memory_order_relaxed) + 1}),
      chunks_(chunks),
      known_(make_room(hash, chunks, id_)) {}

void SetDefinition::add(const RankChunk& chunk) {
  if (used_ + 2 > kWords) flush();
  words_[used_++] = chunk.index;
  words_[used_++] = chunk.bits;
  if (known_) known_->chunks()[added_] = chunk;
  ++added_;
}

void SetDefinition::flush() {
  const auto set = static_cast<uint32_t>(id_);
  if (first_) {
    log_.put(time_, raw::mpi_rank_set{.set = set, .pairs = chunks_}, words_, used_);
  } else {
    log_.put(time_, raw::mpi_rank_set_more{.set = set, .pairs = chunks_}, words_, used_);
  }
  first_ = false;
  used_ = 0;
}

/// The definition is written before other threads may find the set: if this thread is killed
/// before, no other log must refer to a set that its log does not define.
RankSet SetDefinition::finish() {
  if (first_ || used_ > 0) flush();
  if (known_) {
    auto& bucket = bucket_of(known_->hash);
    const KnownSet* head = bucket.load(std::memory_order_relaxed);
    do known_->next = head;
    while (!bucket.compare_exchange_weak(head, known_, std::memory_order_release,
                                         std::memory_order_relaxed));
  }
  return id_;
}

}  // namespace culprit::collector::mpi
