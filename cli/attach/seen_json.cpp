// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All that was seen, in the structure of seen.h.
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "cli/attach/seen_page.h"

namespace culprit::cli {
namespace {

using nlohmann::ordered_json;
using namespace assemble::attach;

/// Times that are not known are null.
ordered_json known(double seconds) {
  return seconds < 0 ? ordered_json() : ordered_json(seconds);
}

ordered_json spot_json(const Spot& spot) {
  return {{"doing", to_words(spot.doing)}, {"on_core", spot.on_core}, {"call", spot.call},
          {"function", spot.function},     {"place", spot.place},     {"object", spot.object}};
}

ordered_json thread_json(const SeenThread& thread) {
  ordered_json spots = ordered_json::array();
  for (const SeenSpot& seen : thread.spots) {
    ordered_json row = spot_json(seen.spot);
    row["looks"] = seen.looks;
    row["time_s"] = seen.seconds;
    spots.push_back(std::move(row));
  }
  return {{"tid", thread.tid},
          {"name", thread.name},
          {"ended", thread.ended},
          {"watched_s", thread.watched_s},
          {"on_core_s", known(thread.on_core_s)},
          {"without_core_s", known(thread.without_core_s)},
          {"asleep_s", known(thread.asleep_s)},
          {"looks", thread.looks},
          {"places", std::move(spots)}};
}

ordered_json process_json(const SeenProcess& process) {
  ordered_json threads = ordered_json::array();
  for (const SeenThread& thread : process.threads) threads.push_back(thread_json(thread));
  return {{"pid", process.pid},
          {"name", process.name},
          {"user", process.user},
          {"refusal", process.refusal},
          {"debugger", process.debugger},
          {"ended", process.ended},
          {"has_names", !process.nameless},
          {"watched_s", process.watched_s},
          {"threads", std::move(threads)}};
}

}  // namespace

std::string seen_json(const Seen& seen) {
  ordered_json processes = ordered_json::array(), culprits = ordered_json::array();
  for (const SeenProcess& process : seen.processes) processes.push_back(process_json(process));
  for (const SeenCulprit& one : seen.culprits) {
    ordered_json row = {{"pid", one.pid}, {"tid", one.tid}};
    row.update(spot_json(one.spot));
    row["waiting_s"] = one.waiting_s;
    row["locks_s"] = one.locks_s;
    culprits.push_back(std::move(row));
  }
  const ordered_json all = {
      {"seconds", seen.seconds},           {"looks", seen.looks},
      {"processes", std::move(processes)}, {"waiting_s", seen.waiting_s},
      {"culprits", std::move(culprits)},   {"nobody_s", seen.nobody_s},
      {"somebody_s", seen.somebody_s},     {"stops", seen.stops},
      {"stopped_s", seen.stopped_s},       {"longest_stop_s", seen.longest_stop_s},
      {"refused", seen.refused},           {"own_core_s", seen.own_core_s}};
  return printable_json(all.dump(2, ' ', false, ordered_json::error_handler_t::replace)) + "\n";
}

}  // namespace culprit::cli
