// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/open_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "assemble/bursts/burst_files.h"
#include "assemble/opening.h"
#include "assemble/raw/process.h"

namespace culprit::assemble {

Result<OpenProfile> open_profile(const std::filesystem::path& experiment, unsigned threads,
                                 Keep what) {
  const auto options = options_for(experiment, threads);
  if (!options) return options.error();
  OpenProfile opened;
  const auto run = prepare_profile(records_of(experiment), *options, opened.profile);
  if (!run) return run.error();
  const bool keeps = what == Keep::names_and_facts;
  opened.facts = settle_facts(experiment, *run.value(), keeps, opened.kept);
  if (keeps && opened.kept) opened.kept = keep_names(experiment, *run.value());
  for (const NodeBursts& node : read_pages(records_of(experiment))) {
    if (node.page.disk_full == 0) continue;
    opened.facts.notes.push_back(fmt::format(
        "The disk of {} was full. What came from then on is in the profile, and in windows as far "
        "as there was room again; names that were new then may be missing.",
        node.node.substr(0, node.node.rfind('.'))));
  }
  // Facts that were noted before know nothing of the profile.
  for (const std::string& note : run.value()->facts.notes) {
    std::vector<std::string>& notes = opened.facts.notes;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  return opened;
}

bool is_beyond_its_trace(const std::filesystem::path& experiment) {
  const GuardedPath raw = records_of(experiment);
  const std::vector<std::string> processes = raw.list();
  return std::any_of(processes.begin(), processes.end(), [&](const std::string& name) {
    const auto record = read_process(raw / name / "process");
    return record && record->process.whole_end != 0;
  });
}

}  // namespace culprit::assemble
