// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One or two locations are named if nearly all of it is theirs; else they are counted, and the
// largest named if it stands out.
#include "report/verdict/places.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "report/page/layout.h"

namespace culprit::report {
namespace {

/// Locations that together have this part of the whole stand for it.
constexpr double kNearlyAll = 0.8;
constexpr size_t kNamed = 2;
constexpr double kSimilar = 1.5;  ///< the largest to the mean: there is no largest worth naming

/// "12 ranks", "8 threads of rank 0", "96 threads of 12 ranks".
std::string crowd(const std::vector<Share>& shares, const blame::Findings& findings) {
  std::set<uint32_t> ranks;
  bool streams = false;
  for (const Share& share : shares) {
    const blame::FoundLocation& location = findings.locations[share.location.index()];
    ranks.insert(location.rank);
    streams |= !location.stream.empty();
  }
  if (ranks.size() == shares.size()) return counted(shares.size(), "rank");
  const std::string lines = counted(shares.size(), streams ? "thread or stream" : "thread",
                                    streams ? "threads and streams" : "");
  if (findings.run.ranks < 2) return lines;
  return ranks.size() == 1 ? fmt::format("{} of rank {}", lines, *ranks.begin())
                           : fmt::format("{} of {}", lines, counted(ranks.size(), "rank"));
}

/// What code is called that is nowhere in the program; else as it is.
std::string_view in_words(std::string_view region) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"(waking up)", "threads that were slow to wake up"},
      {"(outside)", "code outside all recorded functions"},
      {"(not recorded)", "code that was not recorded"},
      {"(device idle)", "an idle device"},
      {"(stream idle)", "an idle stream"},
      {"(launch latency)", "the latency of launches"},
  };
  for (const auto& [name, words] : kWords) {
    if (name == region) return words;
  }
  return region;
}

}  // namespace

std::string name_of(const Cause& cause, const PageNames& names) {
  const blame::FoundCallPath* path = names.find(cause.example);
  if (path == nullptr) return names.code(cause.example);
  if (path->region.starts_with('(')) {
    return path->parent.valid() ? fmt::format("{} {}", names.code(path->parent), path->region)
                                : std::string(in_words(path->region));
  }
  std::string text = names.code(cause.example);
  if (cause.with_callees) text += " and what it calls";
  if (path->region.starts_with("MPI_")) text += " itself (not by waiting in it)";
  return text;
}

std::string on_places(const std::vector<Share>& shares, const blame::Findings& findings,
                      const PageNames& names) {
  double whole_s = 0;
  for (const Share& share : shares) whole_s += share.time_s;
  const auto named = [&](const Share& share) {
    return fmt::format("{} ({})", names.location(share.location), percent(share.time_s, whole_s));
  };
  double sum_s = 0;
  for (size_t i = 0; i < std::min(kNamed, shares.size()); ++i) {
    sum_s += shares[i].time_s;
    if (sum_s < kNearlyAll * whole_s) continue;
    if (i == 0) return "on " + names.location(shares[0].location);
    // Two that have about the same: no figures are needed.
    const bool alike = shares[0].time_s < kSimilar * shares[1].time_s;
    return alike && shares.size() == kNamed
               ? fmt::format("on {} and {}", names.location(shares[0].location),
                             names.location(shares[1].location))
               : fmt::format("on {} and {}", named(shares[0]), named(shares[1]));
  }
  std::string text = "on " + crowd(shares, findings);
  const double mean_s = whole_s / static_cast<double>(shares.size());
  if (shares.front().time_s >= kSimilar * mean_s) text += ", most on " + named(shares.front());
  return text;
}

}  // namespace culprit::report
