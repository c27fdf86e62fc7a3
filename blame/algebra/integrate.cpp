// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Inputs are taken in one after another, each tree from its roots down: parents stand before their
// children in findings.

#include "blame/algebra/integrate.h"

#include <algorithm>
#include <map>
#include <string>

namespace culprit::blame {
namespace {

/// "!$omp parallel @solve.c:32" without the line.
std::string without_line(const std::string& region) {
  const size_t at = region.rfind('@'), colon = region.rfind(':');
  if (at == std::string::npos || colon == std::string::npos || colon < at) return region;
  const bool digits = colon + 1 < region.size() &&
                      std::all_of(region.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                                  region.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? region.substr(0, colon) : region;
}

using Children = std::map<CallPathId, std::vector<CallPathId>>;  ///< by parent; none: roots

Children children_of(const std::vector<FoundCallPath>& callpaths) {
  Children children;
  for (size_t i = 0; i < callpaths.size(); ++i) {
    children[callpaths[i].parent].push_back(CallPathId(i));
  }
  return children;
}

class CommonTree {
 public:
  std::vector<FoundCallPath> callpaths;

  /// Returns where each of the input's call paths is.
  std::vector<CallPathId> take_in(const std::vector<FoundCallPath>& input) {
    std::vector<CallPathId> place(input.size());
    Children of_input = children_of(input);
    place_children(input, of_input[CallPathId::none()], CallPathId::none(), place);
    for (size_t i = 0; i < input.size(); ++i) {
      const auto own = of_input.find(CallPathId(i));
      if (own != of_input.end()) place_children(input, own->second, place[i], place);
    }
    return place;
  }

 private:
  /// Places the children of one parent: by the whole name, then by the name without its line, in
  /// order of lines.
  void place_children(const std::vector<FoundCallPath>& input, const std::vector<CallPathId>& own,
                      CallPathId parent, std::vector<CallPathId>& place) {
    std::vector<CallPathId> known = children_[parent];
    std::vector<CallPathId> open;
    for (CallPathId id : own) {
      const auto same = std::find_if(known.begin(), known.end(), [&](CallPathId each) {
        return callpaths[each.index()].region == input[id.index()].region;
      });
      if (same == known.end()) {
        open.push_back(id);
      } else {
        place[id.index()] = *same;
        known.erase(same);
      }
    }
    sort_by_line(open, input);
    sort_by_line(known, callpaths);
    for (CallPathId id : open) {
      const std::string name = without_line(input[id.index()].region);
      const auto like = std::find_if(known.begin(), known.end(), [&](CallPathId each) {
        const std::string& region = callpaths[each.index()].region;
        return region != without_line(region) && without_line(region) == name;
      });
      if (like == known.end()) continue;
      place[id.index()] = *like;
      known.erase(like);
    }
    for (CallPathId id : own) {
      if (!place[id.index()].valid()) place[id.index()] = add(input[id.index()], parent);
    }
  }

  static void sort_by_line(std::vector<CallPathId>& ids, const std::vector<FoundCallPath>& of) {
    std::stable_sort(ids.begin(), ids.end(), [&](CallPathId a, CallPathId b) {
      return of[a.index()].line < of[b.index()].line;
    });
  }

  CallPathId add(FoundCallPath path, CallPathId parent) {
    path.parent = parent;
    path.name = parent.valid() ? callpaths[parent.index()].name + "/" + path.region : path.region;
    callpaths.push_back(std::move(path));
    children_[parent].push_back(CallPathId(callpaths.size() - 1));
    return CallPathId(callpaths.size() - 1);
  }

  Children children_;
};

/// Takes in rows that are the same if `name_of` says so.
template <class Row, class IdType, class NameOf>
std::vector<IdType> take_in(const std::vector<Row>& input, std::map<std::string, IdType>& known,
                            std::vector<Row>& all, const NameOf& name_of) {
  std::vector<IdType> place;
  for (const Row& row : input) {
    const auto [at, fresh] = known.try_emplace(name_of(row), IdType(all.size()));
    if (fresh) all.push_back(row);
    place.push_back(at->second);
  }
  return place;
}

}  // namespace

CommonGround integrate(std::span<const Findings* const> inputs) {
  CommonGround ground;
  CommonTree tree;
  std::map<std::string, LocationId> locations;
  std::map<std::string, MetricId> metrics;
  for (const Findings* input : inputs) {
    CommonIds& ids = ground.inputs.emplace_back();
    ids.callpaths = tree.take_in(input->callpaths);
    ids.locations = take_in(input->locations, locations, ground.locations,
                            [](const FoundLocation& row) { return row.name; });
    ids.metrics = take_in(input->metrics, metrics, ground.metrics,
                          [](const FoundMetric& row) { return row.name; });
  }
  for (FoundLocation& row : ground.locations) row.life_s = row.waiting_s = 0;
  ground.callpaths = std::move(tree.callpaths);
  return ground;
}

}  // namespace culprit::blame
