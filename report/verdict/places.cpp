// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One or two locations are named if most of it is theirs, with their parts unless nothing is left
// for others; else all are counted, and the largest is named if it stands out.
#include "report/verdict/places.h"

#include <fmt/format.h>

#include <set>

#include "blame/findings/path_meaning.h"
#include "report/words/layout.h"
#include "trace/pseudo_regions.h"

namespace culprit::report {
namespace {

/// One or two locations with at least this part of the whole are named without mention of the
/// others.
constexpr double kAsGoodAsAll = 0.98;
/// Two that together have this part of the whole are named, and so is one that has most.
constexpr double kNearlyAll = 0.8;
constexpr double kMost = 0.5;
constexpr double kWorthAName = 0.1;
/// Two whose parts differ by less of the whole need no figures.
constexpr double kAlike = 0.02;
constexpr double kStandsOut = 1.5;  ///< the largest to the mean

/// "12 ranks", "8 threads of rank 0", "96 threads of 12 ranks".
std::string crowd(const std::vector<blame::Share>& shares, const blame::Findings& findings) {
  std::set<uint32_t> ranks;
  bool streams = false;
  for (const blame::Share& share : shares) {
    const blame::FoundLocation& location = findings.locations[share.location.index()];
    ranks.insert(location.rank);
    streams |= !location.stream.empty();
  }
  const std::string_view unit = unit_of(findings);
  const auto units = [&](size_t count) {
    return counted(count, unit, unit == "process" ? "processes" : "");
  };
  if (ranks.size() == shares.size()) return units(shares.size());
  const std::string lines = counted(shares.size(), streams ? "thread or stream" : "thread",
                                    streams ? "threads and streams" : "");
  if (findings.run.ranks < 2) return lines;
  return ranks.size() == 1 ? fmt::format("{} of {} {}", lines, unit, *ranks.begin())
                           : fmt::format("{} of {}", lines, units(ranks.size()));
}

/// Of a path within a library, the function whose time it is.
CallPathId owner_of(const blame::FoundCallPath& path, const PageNames& names) {
  CallPathId owner = path.parent;
  while (is_in_call_of_system(*names.find(owner))) owner = names.find(owner)->parent;
  return owner;
}

}  // namespace

std::string name_of(const blame::Cause& cause, const PageNames& names) {
  const blame::FoundCallPath* path = names.find(cause.example);
  if (path == nullptr) return names.code(cause.example);
  if (const trace::PseudoRegion* pseudo = trace::pseudo_region(path->region)) {
    if (pseudo->kind == trace::Pseudo::between) {
      return fmt::format("code between {}", trace::rest_of_family(path->region));
    }
    if (!path->parent.valid()) {
      return std::string(pseudo->words.empty() ? path->region : pseudo->words);
    }
    const bool is_most = cause.costliest_s >= kMost * cause.cost_s;
    return names.code(is_most || !is_in_call_of_system(*path) ? cause.example : path->parent);
  }
  if (is_of(*path, trace::Paradigm::library) && path->parent.valid()) {
    const bool is_most = cause.costliest_s >= kMost * cause.cost_s;
    return is_most ? names.code(cause.example) : names.code(owner_of(*path, names));
  }
  // A call in which threads wait for each other, for the part of it that was no such wait.
  if (is_of(*path, trace::Paradigm::pthread) && path->parent.valid()) {
    return fmt::format("{} {}{})", names.code(path->parent), trace::pseudo::blocked_in,
                       path->region);
  }
  std::string text = names.code(cause.example);
  if (const blame::FoundCallPath* callee = names.find(cause.callee)) {
    text += fmt::format(" (in {})", callee->region);
  }
  if (cause.with_callees) text += " and what it calls";
  if (is_of(*path, trace::Paradigm::mpi)) text += " itself";
  return text;
}

std::string on_places(const std::vector<blame::Share>& shares, const blame::Findings& findings,
                      const PageNames& names) {
  double whole_s = 0;
  for (const blame::Share& share : shares) whole_s += share.time_s;
  const auto name = [&](size_t i) { return names.location(shares[i].location); };
  const auto named = [&](size_t i) {
    return fmt::format("{} ({})", name(i),
                       percent(blame::Proportion::of(blame::Amount<blame::Row>(shares[i].time_s),
                                                     blame::Amount<blame::Row>(whole_s))));
  };
  if (shares.size() == 1 || shares[0].time_s >= kAsGoodAsAll * whole_s) return "on " + name(0);
  const double first_s = shares[0].time_s, both_s = first_s + shares[1].time_s;
  if (both_s >= kAsGoodAsAll * whole_s) {
    const bool alike = first_s - shares[1].time_s < kAlike * whole_s;
    return alike ? fmt::format("on {} and {}", name(0), name(1))
                 : fmt::format("on {} and {}", named(0), named(1));
  }
  if (both_s >= kNearlyAll * whole_s || first_s >= kMost * whole_s) {
    if (shares[1].time_s < kWorthAName * whole_s) {
      return fmt::format("on {} and {} more", named(0), grouped(shares.size() - 1));
    }
    return fmt::format("on {}, {} and {} more", named(0), named(1), grouped(shares.size() - 2));
  }
  if (first_s < kWorthAName * whole_s) return "spread over " + crowd(shares, findings);
  const bool stands_out = first_s * static_cast<double>(shares.size()) >= kStandsOut * whole_s;
  return "on " + crowd(shares, findings) + (stands_out ? ", more than others on " + named(0) : "");
}

}  // namespace culprit::report
