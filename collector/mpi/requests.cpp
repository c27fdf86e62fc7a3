// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of pending requests (requests.h): 16 shards by handle, each a small hash table of
// chains under its own mutex. Nodes come from malloc once and go round a free list, so a steady
// program allocates nothing.

#include "collector/mpi/requests.h"

#include <atomic>
#include <mutex>
#include <new>

namespace culprit::collector::mpi {
namespace {

struct Node {
  uint64_t key;
  const void* place;
  Request request;
  Node* next;
};

/// Places are compared this far into the list of one handle; beyond, the oldest is as good as any.
constexpr int kPlacesCompared = 64;

class Shard {
 public:
  void add(uint64_t key, const void* place, const Request& request) {
    Node* node = take_free();
    if (!node) node = new (std::nothrow) Node;  // outside the lock: malloc is not ours
    if (!node) return;
    *node = {key, place, request, nullptr};
    std::lock_guard lock(mutex_);
    Chain& chain = chain_of(key);
    (chain.last ? chain.last->next : chain.first) = node;
    chain.last = node;
  }

  /// Runs `use(Request&)` on the request, under the lock; removes it if that returns true.
  template <class Use>
  bool with(uint64_t key, const void* place, Use use) {
    std::lock_guard lock(mutex_);
    Chain& chain = chain_of(key);
    const Found found = find(chain, key, place);
    if (!found.node) return false;
    if (use(found.node->request)) remove(chain, found);
    return true;
  }

 private:
  struct Chain {
    Node* first = nullptr;
    Node* last = nullptr;
  };
  struct Found {
    Node* before = nullptr;
    Node* node = nullptr;
  };

  Node* take_free() {
    std::lock_guard lock(mutex_);
    Node* node = free_;
    if (node) free_ = node->next;
    return node;
  }

  Chain& chain_of(uint64_t key) { return chains_[(key * 0x9e3779b97f4a7c15u) >> 58]; }

  static Found find(const Chain& chain, uint64_t key, const void* place) {
    Found oldest;
    int compared = 0;
    Node* before = nullptr;
    for (Node* node = chain.first; node; before = node, node = node->next) {
      if (node->key != key) continue;
      if (node->place == place) return {before, node};
      if (!oldest.node) oldest = {before, node};
      if (++compared == kPlacesCompared) break;
    }
    return oldest;
  }

  void remove(Chain& chain, const Found& found) {
    (found.before ? found.before->next : chain.first) = found.node->next;
    if (chain.last == found.node) chain.last = found.before;
    found.node->next = free_;
    free_ = found.node;
  }

  std::mutex mutex_;
  Chain chains_[64];
  Node* free_ = nullptr;
};

constexpr size_t kShards = 16;
Shard shards[kShards];

Shard& shard_of(uint64_t key) {
  return shards[((key >> 4) * 0xff51afd7ed558ccdu) >> 60];
}

std::atomic<uint64_t> last_id{0};

}  // namespace

uint64_t new_request_id() {
  return last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

void add_request(MPI_Request handle, const void* place, const Request& request) {
  if (handle == MPI_REQUEST_NULL) return;
  const uint64_t key = key_of(handle);
  shard_of(key).add(key, place, request);
}

bool start_request(MPI_Request handle, const void* place, Request& started) {
  const uint64_t key = key_of(handle);
  return shard_of(key).with(key, place, [&](Request& request) {
    request.active = true;
    request.reported = request.cancelling = false;
    request.id = new_request_id();
    started = request;
    return false;
  });
}

bool complete_request(MPI_Request handle, const void* place, Request& completed) {
  if (handle == MPI_REQUEST_NULL) return false;
  const uint64_t key = key_of(handle);
  bool news = false;
  shard_of(key).with(key, place, [&](Request& request) {
    news = request.active && !request.reported;
    completed = request;
    request.active = request.reported = false;
    return !request.persistent;
  });
  return news;
}

bool report_request(MPI_Request handle, const void* place, Request& completed) {
  if (handle == MPI_REQUEST_NULL) return false;
  const uint64_t key = key_of(handle);
  bool news = false;
  shard_of(key).with(key, place, [&](Request& request) {
    news = request.active && !request.reported;
    completed = request;
    request.reported = true;
    return false;
  });
  return news;
}

void cancel_request(MPI_Request handle, const void* place) {
  const uint64_t key = key_of(handle);
  shard_of(key).with(key, place, [](Request& request) {
    request.cancelling = true;
    return false;
  });
}

void drop_request(MPI_Request handle, const void* place) {
  if (handle == MPI_REQUEST_NULL) return;
  const uint64_t key = key_of(handle);
  shard_of(key).with(key, place, [](Request&) { return true; });
}

}  // namespace culprit::collector::mpi
