// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Nodes that can go on are removed until nothing changes; those that remain wait for ever. Circles
// are the strongly connected components (Tarjan 1972) of the rest.
#include "assemble/stuck/wait_graph.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace culprit::assemble::stuck {
namespace {

/// By node: whether it goes on sooner or later.
std::vector<bool> who_goes_on(const std::vector<Node>& nodes) {
  struct Place {
    size_t node, need;
  };
  std::vector<std::vector<Place>> wanted(nodes.size());  // by node: the needs that it could meet
  std::vector<std::vector<bool>> met(nodes.size());
  std::vector<size_t> unmet(nodes.size());
  std::vector<bool> goes_on(nodes.size());
  std::vector<size_t> news;
  for (size_t i = 0; i < nodes.size(); ++i) {
    unmet[i] = nodes[i].waits ? nodes[i].needs.size() : 0;
    met[i].resize(nodes[i].needs.size());
    for (size_t n = 0; nodes[i].waits && n < nodes[i].needs.size(); ++n) {
      for (const size_t other : nodes[i].needs[n].any_of) wanted[other].push_back({i, n});
    }
    if (unmet[i] > 0) continue;
    goes_on[i] = true;
    news.push_back(i);
  }
  while (!news.empty()) {
    const size_t helper = news.back();
    news.pop_back();
    for (const Place& place : wanted[helper]) {
      if (met[place.node][place.need]) continue;
      met[place.node][place.need] = true;
      if (--unmet[place.node] > 0) continue;
      goes_on[place.node] = true;
      news.push_back(place.node);
    }
  }
  return goes_on;
}

/// The edges from each stuck node to the stuck nodes that it waits for.
std::vector<std::vector<size_t>> edges_among(const std::vector<Node>& nodes,
                                             const std::vector<bool>& goes_on) {
  std::vector<std::vector<size_t>> edges(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (goes_on[i]) continue;
    for (const Need& need : nodes[i].needs) {
      const bool is_met = std::any_of(need.any_of.begin(), need.any_of.end(),
                                      [&](size_t other) { return goes_on[other]; });
      if (!is_met) edges[i].insert(edges[i].end(), need.any_of.begin(), need.any_of.end());
    }
    std::sort(edges[i].begin(), edges[i].end());
    edges[i].erase(std::unique(edges[i].begin(), edges[i].end()), edges[i].end());
  }
  return edges;
}

/// Strongly connected components (Tarjan 1972), without recursion: as many ranks may wait in a row.
class Components {
 public:
  explicit Components(const std::vector<std::vector<size_t>>& edges)
      : edges_(edges), order_(edges.size()), low_(edges.size()), component_(edges.size()) {
    for (size_t i = 0; i < edges.size(); ++i) {
      if (order_[i] == 0) walk(i);
    }
  }
  /// By node.
  const std::vector<size_t>& components() const { return component_; }

 private:
  struct Step {
    size_t node, next;
  };
  void walk(size_t from) {
    std::vector<Step> way = {{from, 0}};
    while (!way.empty()) {
      auto& [node, next] = way.back();
      if (next == 0) begin(node);
      if (next < edges_[node].size()) {
        const size_t other = edges_[node][next++];
        if (order_[other] == 0) {
          way.push_back({other, 0});
        } else if (on_stack(other)) {
          low_[node] = std::min(low_[node], order_[other]);
        }
        continue;
      }
      const size_t done = node;
      way.pop_back();
      if (!way.empty()) low_[way.back().node] = std::min(low_[way.back().node], low_[done]);
      if (low_[done] == order_[done]) finish(done);
    }
  }
  void begin(size_t node) {
    if (order_[node] != 0) return;
    order_[node] = low_[node] = ++count_;
    stack_.push_back(node);
  }
  bool on_stack(size_t node) const { return component_[node] == 0; }
  void finish(size_t root) {
    ++components_;
    size_t node;
    do {
      node = stack_.back();
      stack_.pop_back();
      component_[node] = components_;
    } while (node != root);
  }

  const std::vector<std::vector<size_t>>& edges_;
  std::vector<size_t> order_, low_, component_;
  std::vector<size_t> stack_;
  size_t count_ = 0, components_ = 0;
};

class Union {
 public:
  explicit Union(size_t size) : parent_(size) {
    for (size_t i = 0; i < size; ++i) parent_[i] = i;
  }
  size_t find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(size_t a, size_t b) {
    parent_[std::max(find(a), find(b))] = std::min(find(a), find(b));
  }

 private:
  std::vector<size_t> parent_;
};

/// The nodes of circles, beginning with the first and following whom each waits for.
std::vector<size_t> around(const std::vector<size_t>& members,
                           const std::vector<std::vector<size_t>>& edges, std::vector<bool>& left) {
  std::vector<size_t> ordered;
  for (const size_t member : members) left[member] = true;
  for (const size_t first : members) {
    for (size_t node = first; left[node];) {
      ordered.push_back(node);
      left[node] = false;
      const auto next = std::find_if(edges[node].begin(), edges[node].end(),
                                     [&](size_t other) { return left[other]; });
      if (next != edges[node].end()) node = *next;
    }
  }
  return ordered;
}

}  // namespace

std::vector<Group> find_stuck(const std::vector<Node>& nodes) {
  const std::vector<bool> goes_on = who_goes_on(nodes);
  const std::vector<std::vector<size_t>> edges = edges_among(nodes, goes_on);
  const std::vector<size_t> component = Components(edges).components();
  std::map<size_t, size_t> sizes;
  Union together(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (goes_on[i]) continue;
    ++sizes[component[i]];
    for (const size_t other : edges[i]) together.join(i, other);
  }
  std::map<size_t, Group> groups;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (goes_on[i]) continue;
    const bool waits_for_itself = std::binary_search(edges[i].begin(), edges[i].end(), i);
    Group& group = groups[together.find(i)];
    const bool in_circle = waits_for_itself || sizes[component[i]] > 1;
    (in_circle ? group.circle : group.behind).push_back(i);
  }
  std::vector<Group> found;
  std::vector<bool> left(nodes.size());
  for (auto& [first, group] : groups) {
    group.kind = group.circle.empty() ? Kind::unanswered : Kind::deadlock;
    group.circle = around(group.circle, edges, left);
    // Nodes whose need no node can meet stand before those that wait for them.
    std::stable_partition(group.behind.begin(), group.behind.end(),
                          [&](size_t node) { return edges[node].empty(); });
    found.push_back(std::move(group));
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const Group& group) { return group.kind == Kind::deadlock; });
  return found;
}

}  // namespace culprit::assemble::stuck
