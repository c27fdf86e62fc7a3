// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Extrae records a region on the thread that forks, its body on each thread that executes it, and
// nothing of the barrier behind: a thread is in that from the end of its body until the region
// ends.
#include "trace/paraver/teams.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/openmp_names.h"

namespace culprit::trace {
namespace {

/// The bodies that a thread executes within a region, as one: a region may consist of several.
class Bodies {
 public:
  explicit Bodies(const std::vector<ParallelVisit>& all) : all_(all) {
    std::sort(all_.begin(), all_.end(),
              [](const ParallelVisit& a, const ParallelVisit& b) { return a.begin < b.begin; });
  }

  std::optional<ImportedSpan> within(const ImportedSpan& region) const {
    auto first =
        std::lower_bound(all_.begin(), all_.end(), region.begin,
                         [](const ParallelVisit& body, int64_t time) { return body.begin < time; });
    std::optional<ImportedSpan> span;
    for (; first != all_.end() && first->begin < region.end; ++first) {
      if (!span) span = *first;
      span->end = std::min(std::max(span->end, first->end), region.end);
    }
    return span;
  }

 private:
  std::vector<ParallelVisit> all_;
};

class TeamBuilder {
 public:
  TeamBuilder(const std::vector<TeamThread>& threads, ImportedProcess& process,
              ImportedRegions& regions, uint64_t& numbers)
      : threads_(threads), process_(process), numbers_(numbers) {
    for (const TeamThread& thread : threads) bodies_.emplace_back(thread.built->bodies);
    const auto make = [&](std::string_view name, RegionRole role) {
      return regions.of(name, static_cast<uint32_t>(role), [&](std::string_view text) {
        return Region{std::string(kConstruct).append(text), role, Paradigm::openmp, {}, 0};
      });
    };
    region_ = make("parallel", RegionRole::parallel);
    barrier_ = make("implicit barrier", RegionRole::implicit_barrier);
  }

  void build() {
    for (size_t master = 0; master < threads_.size(); ++master) {
      for (const ParallelVisit& visit : threads_[master].built->regions) add(master, visit);
    }
  }

 private:
  void add(size_t master, const ParallelVisit& region) {
    std::vector<std::pair<size_t, ImportedSpan>> members;
    for (size_t t = 0; t < threads_.size(); ++t) {
      if (const auto body = bodies_[t].within(region)) members.emplace_back(t, *body);
    }
    const bool leads = std::any_of(members.begin(), members.end(),
                                   [&](const auto& member) { return member.first == master; });
    if (!leads) return;
    const uint64_t instance = ++instances_;
    using enum ImportedAct::What;
    act(master, region.number, fork, instance, static_cast<uint32_t>(members.size()));
    for (const auto& [t, body] : members) {
      uint64_t call = region.number;
      if (t != master) {
        call = ++numbers_;
        calls_of(t).push_back({{body.begin, region.end}, region_, call});
      }
      act(t, call, team_begin, instance);
      if (body.end < region.end) calls_of(t).push_back({{body.end, region.end}, barrier_, 0});
      act(t, call, team_end, instance);
    }
    act(master, region.number, join, instance);
  }

  std::vector<ImportedCall>& calls_of(size_t thread) {
    return process_.threads[threads_[thread].key].calls;
  }

  void act(size_t thread, uint64_t call, ImportedAct::What what, uint64_t instance,
           uint32_t size = 0) {
    ImportedAct made;
    made.call = call;
    made.what = what;
    made.number = instance;
    made.peer = size;
    process_.threads[threads_[thread].key].acts.push_back(made);
  }

  const std::vector<TeamThread>& threads_;
  ImportedProcess& process_;
  uint64_t& numbers_;
  std::vector<Bodies> bodies_;  ///< by thread
  RegionId region_, barrier_;
  uint64_t instances_ = 0;
};

}  // namespace

void add_teams(const std::vector<TeamThread>& threads, ImportedProcess& process,
               ImportedRegions& regions, uint64_t& numbers) {
  const bool any = std::any_of(threads.begin(), threads.end(), [](const TeamThread& thread) {
    return !thread.built->regions.empty();
  });
  if (any) TeamBuilder(threads, process, regions, numbers).build();
}

}  // namespace culprit::trace
