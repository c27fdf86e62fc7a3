// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/open_findings.h"

#include <system_error>

#include "cli/experiment.h"
#include "cli/long_run.h"
#include "report/db/findings_db.h"

namespace culprit::cli {

namespace fs = std::filesystem;

namespace {

/// The findings file that `input` means: itself, or the one in the experiment.
Result<fs::path> find_findings(const fs::path& input) {
  std::error_code code;
  if (!fs::exists(input, code)) return Error{"there is no '" + input.string() + "'"};
  if (!fs::is_directory(input, code)) return input;
  if (fs::exists(findings_file(input), code)) return findings_file(input);
  const auto info = read_info(input);
  if (!info) return info.error();
  return Error{"'" + input.string() + "' has not been analyzed yet: run `culprit analyze " +
               input.string() + "`"};
}

}  // namespace

Result<OpenFindings> open_findings(const fs::path& input, std::optional<uint64_t> window,
                                   unsigned threads) {
  auto file = find_findings(input);
  if (!file) return file.error();
  const fs::path folder = fs::absolute(*file).lexically_normal().parent_path();
  auto findings = window ? analyze_window(folder, *window, threads) : report::load_findings(*file);
  if (!findings) return findings.error();
  return OpenFindings{folder, std::move(*findings)};
}

}  // namespace culprit::cli
