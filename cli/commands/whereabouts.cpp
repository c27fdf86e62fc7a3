// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// In runs of thousands of ranks most are at the same place: they share a line.
#include "cli/commands/whereabouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/words/layout.h"

namespace culprit::cli {
namespace {

using assemble::RunState;
using assemble::Whereabouts;

/// Threads that share a line.
struct Place {
  const Whereabouts* first = nullptr;
  std::vector<std::string> names;
  double least_s = 0, most_s = 0;
};

std::vector<Place> places_of(const RunState& state) {
  std::vector<Place> places;
  for (const Whereabouts& one : state.everybody) {
    const double seconds = std::max(0.0, state.now_s - one.since_s);
    const auto same = std::find_if(places.begin(), places.end(), [&](const Place& place) {
      return place.first->what == one.what && place.first->why == one.why;
    });
    Place& place =
        same == places.end() ? places.emplace_back(Place{&one, {}, seconds, seconds}) : *same;
    place.names.push_back(one.name);
    place.least_s = std::min(place.least_s, seconds);
    place.most_s = std::max(place.most_s, seconds);
  }
  return places;
}

std::string names_of(const Place& place) {
  constexpr size_t kNamed = 8;
  const size_t named = std::min(place.names.size(), kNamed);
  std::string text =
      fmt::format("{}", fmt::join(place.names.begin(),
                                  place.names.begin() + static_cast<std::ptrdiff_t>(named), "; "));
  if (named < place.names.size()) text += fmt::format("; {} more", place.names.size() - named);
  return text;
}

std::string line(const Place& place) {
  const Whereabouts& it = *place.first;
  std::string text = fmt::format("{}: {}", names_of(place), it.what);
  if (!it.computes) {
    text += place.most_s - place.least_s < 0.1
                ? fmt::format(", for {:.1f} s", place.most_s)
                : fmt::format(", for {:.1f} to {:.1f} s", place.least_s, place.most_s);
  }
  if (it.core >= 0 && place.names.size() == 1) {
    text += fmt::format(", using {:.0f} % of a core", 100 * it.core);
  }
  if (!it.why.empty()) text += fmt::format("; it waits {}", it.why);
  return report::wrapped(text + ".", 2);
}

}  // namespace

double idle_seconds(const RunState& state) {
  double last = 0;
  for (const Whereabouts& one : state.everybody) {
    if (one.computes) return 0;
    last = std::max(last, one.since_s);
  }
  return std::max(0.0, state.now_s - last);
}

std::string whereabouts_lines(const RunState& state) {
  std::string text;
  for (const Place& place : places_of(state)) text += "- " + line(place).substr(2);
  return text;
}

}  // namespace culprit::cli
