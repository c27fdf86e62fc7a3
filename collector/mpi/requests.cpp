// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of pending requests (requests.h): 16 shards by handle, each a hash table under its own
// mutex that grows with the pending requests, so that a request costs the same whether one or a
// million are out. Requests of one handle hang on its first one, in order. The memory comes from
// the system in slabs and goes round free lists: nothing is allocated by malloc, and a steady
// program needs no more. A plain message takes a Node (64 bytes, and 8 to 16 of the table); the
// additional fields of other requests lie in a LargeNode.

#include "collector/mpi/requests.h"

#include <sys/mman.h>

#include <atomic>
#include <mutex>
#include <new>

#include "collector/process/system_file.h"

namespace culprit::collector::mpi {
namespace {

struct LargeNode;

struct Node {
  uint64_t key;
  const void* place;
  Node* next;  ///< the first request of another handle; set in first requests only
  Node* same;  ///< the next request of this handle
  Node* last;  ///< the last request of this handle; set in first requests only
  LargeNode* large;
  uint64_t id;
  uint32_t comm;
  RequestKind kind;
  bool active, reported, cancelling;
};
static_assert(sizeof(Node) == 64);

struct LargeNode {
  Request request;
  LargeNode* next_free;
};

/// Memory from the system that is never given back. It may be needed inside the program's own
/// allocator.
void* take_memory(size_t size) {
  const KeepErrno keep;
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Objects of one size; not internally synchronised.
template <class Object, Object* Object::* next>
class Pool {
 public:
  Object* take() {
    if (Object* object = free_) {
      free_ = object->*next;
      return object;
    }
    if (left_ == 0) {
      slab_ = static_cast<Object*>(take_memory(kSlab));
      left_ = slab_ ? kSlab / sizeof(Object) : 0;
    }
    return left_ > 0 ? new (slab_ + --left_) Object : nullptr;
  }
  void give_back(Object* object) {
    object->*next = free_;
    free_ = object;
  }

 private:
  static constexpr size_t kSlab = size_t{1} << 16;
  Object* free_ = nullptr;
  Object* slab_ = nullptr;
  size_t left_ = 0;
};

/// Places are compared this far into the list of one handle; beyond, the oldest request is taken.
constexpr int kPlacesCompared = 64;

class Shard {
 public:
  void add(uint64_t key, const void* place, const Request& request) {
    std::lock_guard lock(mutex_);
    Node* node = nodes_.take();
    if (!node) return;
    *node = {key, place, nullptr, nullptr, node, nullptr, 0, 0, RequestKind::nothing, 0, 0, 0};
    if (!request.plain && !(node->large = large_.take())) return nodes_.give_back(node);
    store(*node, request);
    if (Node* first = *find_first(key)) {
      first->last = first->last->same = node;
      return;
    }
    if (++handles_ > buckets()) grow();
    Node*& bucket = *bucket_of(key);
    node->next = bucket;
    bucket = node;
  }

  /// Runs `use(Request&)` on the request, under the lock; removes it if that returns true.
  template <class Use>
  bool with(uint64_t key, const void* place, Use use) {
    std::lock_guard lock(mutex_);
    Node** const first = find_first(key);
    if (!*first) return false;
    Node* before = nullptr;
    Node* const node = choose(*first, place, before);
    Request request = load(*node);
    if (use(request)) {
      remove(first, before, node);
    } else {
      store(*node, request);
    }
    return true;
  }

 private:
  static Request load(const Node& node) {
    if (node.large) return node.large->request;
    Request request;
    request.plain = true;
    request.kind = node.kind;
    request.active = node.active;
    request.reported = node.reported;
    request.cancelling = node.cancelling;
    request.id = node.id;
    request.message.comm = node.comm;
    return request;
  }
  static void store(Node& node, const Request& request) {
    if (node.large) {
      node.large->request = request;
      return;
    }
    node.kind = request.kind;
    node.active = request.active;
    node.reported = request.reported;
    node.cancelling = request.cancelling;
    node.id = request.id;
    node.comm = request.message.comm;
  }

  size_t buckets() const { return size_t{1} << bits_; }
  Node** bucket_of(uint64_t key) const {
    return &table_[(key * 0x9e3779b97f4a7c15u) >> (64 - bits_)];
  }
  /// The link to the first request of a handle, or the one where it would be inserted.
  Node** find_first(uint64_t key) const {
    Node** at = bucket_of(key);
    while (*at && (*at)->key != key) at = &(*at)->next;
    return at;
  }

  static Node* choose(Node* first, const void* place, Node*& before) {
    Node* previous = nullptr;
    int compared = 0;
    for (Node* node = first; node && compared < kPlacesCompared; node = node->same, ++compared) {
      if (node->place == place) {
        before = previous;
        return node;
      }
      previous = node;
    }
    return first;
  }

  void remove(Node** first, Node* before, Node* node) {
    if (before) {
      before->same = node->same;
      if ((*first)->last == node) (*first)->last = before;
    } else if (Node* heir = node->same) {
      heir->next = node->next;
      heir->last = node->last;
      *first = heir;
    } else {
      *first = node->next;
      --handles_;
    }
    if (node->large) large_.give_back(node->large);
    nodes_.give_back(node);
  }

  /// Doubles the buckets; if there is no memory for them, chains get longer instead.
  void grow() {
    const unsigned bits = bits_ + 1;
    auto* const table = static_cast<Node**>(take_memory(sizeof(Node*) << bits));
    if (!table) return;
    Node** const old = table_;
    const size_t old_size = buckets();
    table_ = table;
    bits_ = bits;
    for (size_t i = 0; i < old_size; ++i) {
      for (Node* node = old[i]; node;) {
        Node* const next = node->next;
        Node*& bucket = *bucket_of(node->key);
        node->next = bucket;
        bucket = node;
        node = next;
      }
    }
    if (old != first_table_) munmap(old, sizeof(Node*) * old_size);
  }

  static constexpr unsigned kFirstBits = 6;
  std::mutex mutex_;
  Pool<Node, &Node::same> nodes_;
  Pool<LargeNode, &LargeNode::next_free> large_;
  Node* first_table_[1u << kFirstBits] = {};
  Node** table_ = first_table_;
  unsigned bits_ = kFirstBits;
  size_t handles_ = 0;  ///< distinct ones
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

void put_handle(ThreadLog& log, const Request& request, MPI_Request handle) {
  if (request.persistent) return;
  switch (request.kind) {
    case RequestKind::send:
      return log.set(&raw::mpi_isend::handle, key_of(handle));
    case RequestKind::recv:
    case RequestKind::send_and_recv:
      return log.set(&raw::mpi_irecv_post::handle, key_of(handle));
    case RequestKind::collective:
    case RequestKind::comm_dup:
      return log.set(&raw::mpi_icoll_post::handle, key_of(handle));
    case RequestKind::nothing:
    case RequestKind::window:
    case RequestKind::file:
      return;
  }
}

bool start_request(MPI_Request handle, const void* place, Request& started) {
  const uint64_t key = key_of(handle);
  return shard_of(key).with(key, place, [&](Request& request) {
    request.active = true;
    request.reported = request.cancelling = false;
    request.unready = request.partitions;
    request.id = new_request_id();
    started = request;
    return false;
  });
}

void rename_request(MPI_Request before, const void* place, MPI_Request after) {
  Request moved;
  const uint64_t key = key_of(before);
  const bool known = shard_of(key).with(key, place, [&](Request& request) {
    moved = request;
    return true;
  });
  if (known) add_request(after, place, moved);
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

bool hand_over(MPI_Request handle, const void* place, int64_t count, uint64_t& id) {
  bool last = false;
  shard_of(key_of(handle)).with(key_of(handle), place, [&](Request& request) {
    if (request.active && request.unready > 0) {
      request.unready -= count;
      last = request.unready <= 0;
      id = request.id;
    }
    return false;
  });
  return last;
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
