// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See effects.h.
#include "report/verdict/effects.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/words/patterns.h"

namespace culprit::report {
namespace {

constexpr size_t kNamedLocations = 3;
constexpr double kShareMatters = 0.05;  ///< of the largest; smaller shares are only counted
constexpr double kMatters = 0.01;       ///< of the whole; less is not mentioned
constexpr size_t kNamedEffects = 2;
constexpr double kNearlyAll = 0.98;

/// "rank 3 (0.90 s) and rank 1 (0.90 s) wait 1.80 s in MPI_Barrier [Wait at barrier]"
std::string each_victim(const blame::Blamed& blamed, const PageNames& names,
                        const TimeFormat& time) {
  std::vector<std::string> all;
  for (const blame::VictimGroup& group : blamed.victims) {
    const bool little = group.time_s < kShareMatters * blamed.short_s;
    if (all.size() == kNamedEffects || (!all.empty() && little)) break;
    all.push_back(fmt::format("{} wait {} in {} [{}]", worst_places(group.shares, names, time),
                              time(group.time_s), names.region(group.callpath),
                              pattern_name(group.pattern)));
  }
  return listed(all) + (blamed.victims.size() > all.size() ? ", and more elsewhere" : "");
}

/// "others wait 222.58 ms [Wait at OpenMP barrier] (for example rank 7 thread 1 in !$omp barrier)"
std::string by_pattern(const blame::Blamed& blamed, const PageNames& names,
                       const TimeFormat& time) {
  std::vector<blame::Effect> effects = blamed.effects;
  std::stable_sort(
      effects.begin(), effects.end(),
      [](const blame::Effect& a, const blame::Effect& b) { return a.short_s > b.short_s; });
  std::vector<std::string> all;
  for (const blame::Effect& effect : effects) {
    const bool little = effect.short_s < kShareMatters * blamed.short_s;
    if (all.size() == kNamedEffects || effect.short_s <= 0 || (!all.empty() && little)) break;
    std::string text = fmt::format("{} [{}]", time(effect.short_s), pattern_name(effect.pattern));
    const auto example = std::find_if(
        blamed.victims.begin(), blamed.victims.end(),
        [&](const blame::VictimGroup& group) { return group.pattern == effect.pattern; });
    if (example != blamed.victims.end()) {
      text +=
          fmt::format(" (for example {} in {})", names.location(example->shares.front().location),
                      names.region(example->callpath));
    }
    all.push_back(text);
  }
  if (all.empty()) return "";
  return "others wait " + listed(all) + (effects.size() > all.size() ? ", and more elsewhere" : "");
}

}  // namespace

std::string worst_places(const std::vector<blame::Share>& shares, const PageNames& names,
                         const TimeFormat& time) {
  std::vector<std::string> items;
  double rest_s = 0;
  size_t rest = 0;
  for (const blame::Share& share : shares) {
    if (rest == 0 && items.size() < kNamedLocations &&
        share.time_s >= kShareMatters * shares.front().time_s) {
      items.push_back(fmt::format("{} ({})", names.location(share.location), time(share.time_s)));
    } else if (share.time_s > 0) {
      ++rest;
      rest_s += share.time_s;
    }
  }
  if (items.empty()) return "";
  const bool others = rest > 0 && rest_s >= kMatters * shares.front().time_s;
  if (items.size() == 1 && !others) return names.location(shares.front().location);
  if (others) items.push_back(fmt::format("{} more", grouped(rest)));
  return listed(items);
}

std::string effects_in_words(const blame::Blamed& blamed, const PageNames& names,
                             const TimeFormat& time) {
  double known_s = 0;
  for (const blame::VictimGroup& group : blamed.victims) known_s += group.time_s;
  const std::string effects = known_s >= kNearlyAll * blamed.short_s && !blamed.victims.empty()
                                  ? each_victim(blamed, names, time)
                                  : by_pattern(blamed, names, time);
  std::string text;
  if (!effects.empty()) text = fmt::format("It made {}.", effects);
  if (blamed.long_s > 0 && blamed.long_s >= kMatters * blamed.cost_s()) {
    text += fmt::format("{}Waits that follow from these: {}.", text.empty() ? "" : " ",
                        time(blamed.long_s));
  }
  return text;
}

}  // namespace culprit::report
