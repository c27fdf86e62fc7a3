// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Times come from tools that round them, and from clocks of devices: what is off by so little is
// put right without a word.
#include "trace/imported/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trace/device_apis.h"
#include "trace/pseudo_regions.h"

namespace culprit::trace {
namespace {

/// Times may be rounded to a microsecond, and clocks of devices err by as much.
constexpr int64_t kUncertain = 1000;

/// Of two that begin and end together, the call of a runtime lies in the function that makes it,
/// and that in the range that the user named.
int depth_of(const Region& region) {
  if (region.role == RegionRole::iteration) return 0;
  if (region.role == RegionRole::code || region.role == RegionRole::parallel) return 1;
  return is_device_api(region.paradigm) ? 3 : 2;
}

/// What is shorter need not have a name, and distinct names need memory.
constexpr int64_t kLeastGap = 10'000;
constexpr size_t kMostGaps = 20'000;

/// "load_batch (train.py:12)"
std::string name_and_place(const Region& region) {
  const std::string_view file = std::string_view(region.file).substr(region.file.rfind('/') + 1);
  if (file.empty()) return region.name;
  return fmt::format("{} ({}:{})", region.name, file, region.line);
}

Region gap_between(const Region& first, const Region& second) {
  std::string name =
      fmt::format("{}{} and {})", pseudo::between, name_and_place(first), name_and_place(second));
  return {std::move(name), RegionRole::function, Paradigm::compiler, {}, 0};
}

template <class Span>
void drop_reversed(std::vector<Span>& spans, Losses& losses) {
  const size_t before = spans.size();
  std::erase_if(spans, [](const Span& span) { return span.end < span.begin; });
  losses.add(LossKind::times_absurd, before - spans.size());
}

void put_in_order(std::vector<ImportedCall>& calls, const std::vector<Region>& regions) {
  const auto depth = [&](const ImportedCall& call) {
    return depth_of(regions[call.region.index()]);
  };
  std::stable_sort(calls.begin(), calls.end(), [&](const ImportedCall& a, const ImportedCall& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return depth(a) < depth(b);
  });
}

/// Whether programs open and close it by calls, and may do so in different functions.
bool is_range(const ImportedCall& call, const std::vector<Region>& regions) {
  const RegionRole role = regions[call.region.index()].role;
  return role == RegionRole::code || role == RegionRole::iteration;
}

/// Whether a range may lose a part to the calls that open or close it. Libraries do only that in
/// them; where the program does more in them, the range is about these if they are most of it.
bool may_lose(int64_t lost, int64_t kept, const ImportedCall& to,
              const std::vector<Region>& regions) {
  return lost <= kept || regions[to.region.index()].paradigm == Paradigm::library;
}

/// A range begins within the calls that open it (`__enter__`), which return while it goes on: it
/// holds what comes behind these. `calls` are in order; true if they may no longer be.
bool begin_ranges_behind_openers(std::vector<ImportedCall>& calls,
                                 const std::vector<Region>& regions) {
  bool moved = false;
  std::vector<const ImportedCall*> open;
  for (ImportedCall& call : calls) {
    while (!open.empty() && open.back()->end <= call.begin) open.pop_back();
    if (!is_range(call, regions)) {
      open.push_back(&call);
      continue;
    }
    const ImportedCall* opener = nullptr;  // the outermost of them
    for (size_t i = open.size(); i-- > 0 && open[i]->end < call.end;) opener = open[i];
    if (opener == nullptr) continue;
    const int64_t lost = opener->end - call.begin, kept = call.end - opener->end;
    if (!may_lose(lost, kept, *opener, regions)) continue;
    call.begin = opener->end;
    moved = true;
  }
  return moved;
}

/// Whether `call`, within a range, is the one that closes it (`__exit__`), which returns later.
bool is_ended_by(const ImportedCall& around, const ImportedCall& call,
                 const std::vector<Region>& regions) {
  return call.end > around.end && is_range(around, regions) && !is_range(call, regions) &&
         may_lose(around.end - call.begin, call.begin - around.begin, call, regions);
}

}  // namespace

void make_nested(std::vector<ImportedCall>& calls, const std::vector<Region>& regions,
                 Losses& losses) {
  drop_reversed(calls, losses);
  put_in_order(calls, regions);
  if (begin_ranges_behind_openers(calls, regions)) put_in_order(calls, regions);
  uint64_t cut = 0;
  std::vector<ImportedCall*> open;  // the calls around
  for (ImportedCall& call : calls) {
    while (!open.empty() && open.back()->end <= call.begin) open.pop_back();
    while (!open.empty() && is_ended_by(*open.back(), call, regions)) {
      open.back()->end = call.begin;
      open.pop_back();
    }
    if (!open.empty() && call.end > open.back()->end) {
      cut += call.end - open.back()->end > kUncertain;
      call.end = open.back()->end;
    }
    open.push_back(&call);
  }
  losses.add(LossKind::regions_never_left, cut);
}

void set_ranges_of_libraries_apart(std::vector<ImportedCall>& calls, std::vector<Region>& regions) {
  std::map<RegionId, RegionId> of_libraries;
  std::vector<const ImportedCall*> open;
  for (ImportedCall& call : calls) {
    while (!open.empty() && open.back()->end <= call.begin) open.pop_back();
    const bool in_library =
        !open.empty() && regions[open.back()->region.index()].paradigm == Paradigm::library;
    if (in_library && regions[call.region.index()].role == RegionRole::code) {
      const auto [known, fresh] = of_libraries.try_emplace(call.region, RegionId(regions.size()));
      if (fresh) {
        Region region = regions[call.region.index()];
        region.role = RegionRole::function;
        region.paradigm = Paradigm::library;
        regions.push_back(std::move(region));
      }
      call.region = known->second;
    }
    open.push_back(&call);
  }
}

void name_gaps(std::vector<ImportedCall>& calls, std::vector<Region>& regions) {
  std::map<std::pair<RegionId, RegionId>, RegionId> named;
  std::vector<ImportedCall> gaps;
  const ImportedCall* before = nullptr;
  for (const ImportedCall& call : calls) {
    if (before != nullptr && call.begin < before->end) continue;
    if (before != nullptr && call.begin - before->end >= kLeastGap) {
      const std::pair between(before->region, call.region);
      auto known = named.find(between);
      if (known == named.end() && named.size() < kMostGaps) {
        known = named.emplace(between, RegionId(regions.size())).first;
        regions.push_back(
            gap_between(regions[between.first.index()], regions[between.second.index()]));
      }
      if (known != named.end()) gaps.push_back({{before->end, call.begin}, known->second, 0});
    }
    before = &call;
  }
  const auto middle = static_cast<ptrdiff_t>(calls.size());
  calls.insert(calls.end(), gaps.begin(), gaps.end());
  // Outside of all others: where a call begins when a gap does, that call takes no time.
  std::inplace_merge(
      calls.begin(), calls.begin() + middle, calls.end(),
      [](const ImportedCall& a, const ImportedCall& b) { return a.begin < b.begin; });
}

std::vector<std::vector<ImportedOperation>> lanes_of(std::vector<ImportedOperation> operations,
                                                     Losses& losses) {
  drop_reversed(operations, losses);
  std::stable_sort(operations.begin(), operations.end(),
                   [](const ImportedOperation& a, const ImportedOperation& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  std::vector<std::vector<ImportedOperation>> lanes;
  for (ImportedOperation& operation : operations) {
    size_t lane = 0;
    while (lane < lanes.size() && lanes[lane].back().end - operation.begin > kUncertain) ++lane;
    if (lane == lanes.size()) {
      lanes.emplace_back();
    } else {
      operation.begin = std::max(operation.begin, lanes[lane].back().end);
      operation.end = std::max(operation.end, operation.begin);
    }
    lanes[lane].push_back(operation);
  }
  return lanes;
}

}  // namespace culprit::trace
