// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whole experiment folders from somebody else: links, pipes, files that never end, and any content.
// The folder is read in every way that subcommands read it, and completed as `analyze` does. What
// lies outside must not change.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "assemble/assemble.h"
#include "assemble/open_profile.h"
#include "assemble/run_facts.h"
#include "cli/experiment.h"
#include "report/db/findings_db.h"
#include "report/formats.h"
#include "tests/fuzz/folder_pack.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/otf2/reader.h"

namespace {

using namespace culprit;
namespace fs = std::filesystem;

constexpr const char* kPrecious = "alias precious=yes\n";

/// In memory where the system has such a place; goes with the process.
struct Scratch {
  Scratch() {
    setenv("CULPRIT_NAME_CACHE", "off", 1);
    fs::create_directories(outside / "folder");
    std::ofstream(outside / "file") << kPrecious;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  /// Nothing but the two was made there, and the file is as it was.
  bool is_untouched() const {
    std::ifstream in(outside / "file");
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    return content == kPrecious && fs::is_empty(outside / "folder") &&
           std::distance(fs::directory_iterator(outside), {}) == 2;
  }

  const fs::path path =
      (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
      ("culprit-fuzz-folder." + std::to_string(getpid()));
  const fs::path outside = path / "outside";
  const fs::path folder = path / "folder";
};

void show(const blame::Findings& findings, const fs::path& folder) {
  for (const report::Format& format : report::formats()) {
    static_cast<void>(format.render(findings, folder));
  }
}

void read_findings(const fs::path& folder) {
  const auto findings = report::load_findings(cli::findings_file(folder));
  if (!findings) return fuzz::require_sentence(findings.error());
  show(*findings, folder);
}

void analyse_records(const fs::path& folder, const cli::ExperimentInfo& info) {
  auto opened = assemble::open_records(folder, 1, assemble::Keep::names_and_facts);
  if (!opened) return fuzz::require_sentence(opened.error());
  fuzz::analyse(*opened->source, opened->facts.losses);
  blame::Findings findings;
  findings.locations.resize(opened->source->definitions().locations.size());
  cli::merge_facts(opened->facts, info, findings);
  static_cast<void>(report::save_findings(findings, cli::findings_file(folder)).ok());
  show(findings, folder);
}

void analyse_long_run(const fs::path& folder) {
  const auto opened = assemble::open_profile(folder, 1, assemble::Keep::nothing);
  if (!opened) fuzz::require_sentence(opened.error());
  if (!assemble::is_long_run(folder)) return;
  const assemble::LongRun run(folder, 1);
  for (uint64_t number = 0; number < run.windows(); ++number) {
    const auto window = run.open(number, assemble::Keep::nothing);
    if (!window) {
      fuzz::require_sentence(window.error());
      continue;
    }
    Losses losses = window->records.facts.losses;
    fuzz::analyse(*window->records.source, losses);
  }
}

void analyse_archive(const fs::path& folder) {
  Losses losses;
  const auto source = trace::open_otf2(folder / "trace" / "traces.otf2", losses);
  if (!source) return fuzz::require_sentence(source.error());
  fuzz::analyse(*source.value(), losses);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Scratch scratch;
  const fs::path& folder = scratch.folder;
  fuzz::write_folder(fuzz::unpack_folder({data, size}), folder, scratch.outside);
  const auto info = cli::read_info(folder);
  static_cast<void>(assemble::read_facts(folder).ok());
  static_cast<void>(assemble::still_runs(folder));
  static_cast<void>(cli::has_raw_records(folder));
  assemble::look::Look look;
  static_cast<void>(assemble::look_for_stuck(folder, 1, look).ok());
  read_findings(folder);
  analyse_archive(folder);
  analyse_long_run(folder);
  analyse_records(folder, info ? info.value() : cli::ExperimentInfo());
  read_findings(folder);
  if (!scratch.is_untouched()) {
    std::fputs("something outside of the folder has changed\n", stderr);
    std::abort();
  }
  return 0;
}
