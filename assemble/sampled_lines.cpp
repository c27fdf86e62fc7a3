// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/sampled_lines.h"

#include "assemble/opening.h"
#include "assemble/play/line_counts.h"

namespace culprit::assemble {

Result<std::vector<SampledLine>> sampled_lines(const std::filesystem::path& experiment,
                                               unsigned threads) {
  const auto options = options_for(experiment, threads);
  if (!options) return options.error();
  const auto prepared = prepare_run(records_of(experiment), *options);
  if (!prepared) return prepared.error();
  const RecordedRun& run = *prepared.value();
  std::vector<SampledLine> found;
  for (size_t rank = 0; rank < run.processes.slots.size(); ++rank) {
    const auto folder = run.processes.slots[rank].folder;
    if (!folder) continue;
    for (const auto& [line, counts] :
         count_lines(run.code[*folder], run.accounts[*folder].survey.stacks)) {
      const std::string function =
          line.function.valid() ? run.definitions.regions[line.function.index()].name : "";
      found.push_back({static_cast<uint32_t>(rank), function, line.file, line.line, counts.samples,
                       counts.with_callees});
    }
  }
  return found;
}

}  // namespace culprit::assemble
