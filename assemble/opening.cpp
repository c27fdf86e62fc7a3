// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names are added to those of other parts of the run; facts are those of the part that was opened
// last, if it has other records.
#include "assemble/opening.h"

#include <utility>

#include "assemble/names/kept_names.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

GuardedPath names_file(const fs::path& experiment) {
  return GuardedPath(experiment) / "names";
}

Result<void> keep(const fs::path& experiment, const RecordedRun& run) {
  if (auto written = keep_names(experiment, run); !written) return written;
  return write_facts(experiment, run.facts);
}

/// Records may have been damaged since the facts were noted.
void add_missing(const Losses& found, Losses& noted) {
  for (const auto& [name, loss] : found.all()) {
    if (!noted.all().contains(name)) noted.restore(name, loss);
  }
}

}  // namespace

GuardedPath records_of(const fs::path& experiment) {
  return GuardedPath(experiment) / "raw";
}

Result<PassOptions> options_for(const fs::path& experiment, unsigned threads) {
  auto others = NotThePrograms::of_user();
  if (!others) return others.error();
  return PassOptions{threads,
                     read_symbols,
                     NameCache::of_user(),
                     KeptNames::read(names_file(experiment)),
                     std::move(others).value(),
                     DebugServers::of_user()};
}

Result<void> keep_names(const fs::path& experiment, const RecordedRun& run) {
  KeptNames names = KeptNames::read(names_file(experiment));
  return names.add(run.symbols.kept()) ? names.write(names_file(experiment)) : Result<void>();
}

RunFacts settle_facts(const fs::path& experiment, const RecordedRun& run, bool wanted,
                      Result<void>& kept) {
  auto known = read_facts(experiment);
  if (!known || known.value().records != run.facts.records) {
    if (wanted) kept = keep(experiment, run);
    return run.facts;
  }
  RunFacts facts = std::move(known).value();
  add_missing(run.facts.losses, facts.losses);
  return facts;
}

}  // namespace culprit::assemble
