// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sizes first, since each kind of operation counts them differently; then the messages.
#include "predict/goal/goal_collectives.h"

#include <algorithm>
#include <bit>

namespace culprit::predict {
namespace {

using replay::Part;
using replay::Shape;
using trace::CollectiveOp;

/// An operation, and the bytes that it exchanges.
struct Operation {
  std::span<const Part> parts;
  std::span<const CollectiveBytes> bytes;

  uint32_t size() const { return static_cast<uint32_t>(parts.size()); }
  CollectiveOp op() const { return parts[0].op->op; }
  uint64_t most_sent() const {
    return std::max_element(bytes.begin(), bytes.end(),
                            [](const auto& a, const auto& b) { return a.sent < b.sent; })
        ->sent;
  }
  uint64_t most_received() const {
    return std::max_element(bytes.begin(), bytes.end(),
                            [](const auto& a, const auto& b) { return a.received < b.received; })
        ->received;
  }
};

/// Returns the bytes that one member contributes to an operation in which all do the same.
uint64_t contribution(const Operation& all) {
  return all.most_sent() / std::max(all.size(), 1u);
}

/// Where contributions are gathered (`grows`), each round has twice the bytes of the one before.
std::vector<Transfer> dissemination(const Operation& all, uint64_t bytes, bool grows) {
  std::vector<Transfer> result;
  const uint32_t n = all.size();
  uint32_t round = 0;
  for (uint64_t distance = 1; distance < n; distance *= 2, ++round) {
    const uint64_t blocks = grows ? std::min<uint64_t>(distance, n - distance) : 1;
    for (uint32_t i = 0; i < n; ++i) {
      result.push_back({i, static_cast<uint32_t>((i + distance) % n), bytes * blocks, round});
    }
  }
  return result;
}

/// Recursive doubling, for 2^m members: in each round each member exchanges with one other.
std::vector<Transfer> doubling(const Operation& all, uint64_t bytes, bool grows) {
  std::vector<Transfer> result = dissemination(all, bytes, grows);
  if (!std::has_single_bit(all.size())) return result;
  for (Transfer& each : result) each.to = each.from ^ (1u << each.round);
  return result;
}

/// From the root, or to it. With p = place after the root's: p gets from p less its highest bit, in
/// the round of that bit.
std::vector<Transfer> binomial(const Operation& all, uint32_t root, uint64_t bytes, bool to_root) {
  std::vector<Transfer> result;
  const uint32_t n = all.size();
  uint32_t rounds = 0;
  while ((uint64_t{1} << rounds) < n) ++rounds;
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint32_t bit = 1u << (to_root ? rounds - 1 - round : round);
    for (uint32_t p = bit; p < std::min<uint64_t>(n, uint64_t{bit} * 2); ++p) {
      const uint32_t parent = (p - bit + root) % n, child = (p + root) % n;
      if (to_root) {
        result.push_back({child, parent, bytes, round});
      } else {
        result.push_back({parent, child, bytes, round});
      }
    }
  }
  return result;
}

std::vector<Transfer> with_root(const Operation& all, uint32_t root, bool to_root) {
  std::vector<Transfer> result;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (i == root) continue;
    if (to_root) {
      result.push_back({i, root, all.bytes[i].sent, 0});
    } else {
      result.push_back({root, i, all.bytes[i].received, 0});
    }
  }
  return result;
}

/// All messages at once, to each member from all that have data for it. A sender's bytes are
/// divided equally among its receivers.
std::vector<Transfer> direct(const replay::CollectiveShapes& shapes, const Operation& all) {
  std::vector<Transfer> result;
  for (uint32_t from = 0; from < all.size(); ++from) {
    const size_t first = result.size();
    for (uint32_t step = 1; step < all.size(); ++step) {
      const uint32_t to = (from + step) % all.size();
      if (shapes.gives(all.parts[from], all.parts[to])) result.push_back({from, to, 0, 0});
    }
    // Without partners of its own, it has counted itself as well.
    const bool with_itself = !all.parts[from].op->sends_to.valid();
    const uint64_t takers = result.size() - first + (with_itself ? 1 : 0);
    for (size_t i = first; i < result.size(); ++i) result[i].bytes = all.bytes[from].sent / takers;
  }
  return result;
}

std::vector<Transfer> chain(const Operation& all) {
  std::vector<Transfer> result;
  // The n - r that r sends to and the r that it gets from are all others, and itself twice in scan.
  const uint64_t pairs = all.op() == CollectiveOp::scan ? all.size() + 1 : all.size() - 1;
  const uint64_t bytes = (all.bytes[0].sent + all.bytes[0].received) / std::max<uint64_t>(pairs, 1);
  for (uint32_t i = 0; i + 1 < all.size(); ++i) result.push_back({i, i + 1, bytes, i});
  return result;
}

std::vector<Transfer> all_to_all(const replay::CollectiveShapes& shapes, const Operation& all) {
  switch (all.op()) {
    case CollectiveOp::allreduce:
      return doubling(all, contribution(all), false);
    case CollectiveOp::allgather:
    case CollectiveOp::allgatherv:
      return doubling(all, contribution(all), true);
    case CollectiveOp::create_handle:
    case CollectiveOp::destroy_handle:
    case CollectiveOp::other:
      return dissemination(all, 0, false);
    default:
      return direct(shapes, all);
  }
}

}  // namespace

std::vector<Transfer> transfers_of(const replay::CollectiveShapes& shapes,
                                   std::span<const Part> parts,
                                   std::span<const CollectiveBytes> bytes) {
  const Operation all{parts, bytes};
  const replay::CollectiveKind kind = shapes.of(parts);
  const Shape shape = kind.shape;
  if (shape == Shape::none || kind.starts_world || parts.size() < 2) return {};
  if (shape == Shape::neighbors || replay::CollectiveShapes::sparse(parts)) {
    return direct(shapes, all);
  }
  const Part* root = replay::CollectiveShapes::root_of(parts);
  const auto place = static_cast<uint32_t>(root == nullptr ? 0 : root - parts.data());
  switch (shape) {
    case Shape::barrier:
    case Shape::fence:
      return dissemination(all, 0, false);
    case Shape::one_to_all:
      return all.op() == CollectiveOp::bcast ? binomial(all, place, all.most_received(), false)
                                             : with_root(all, place, false);
    case Shape::all_to_one:
      return all.op() == CollectiveOp::reduce ? binomial(all, place, all.most_sent(), true)
                                              : with_root(all, place, true);
    case Shape::prefix:
      return chain(all);
    default:
      return all_to_all(shapes, all);
  }
}

}  // namespace culprit::predict
