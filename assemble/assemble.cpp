// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/assemble.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <system_error>

#include "assemble/facts.h"
#include "assemble/passes.h"
#include "trace/otf2/writer.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

/// Only one process assembles an experiment, whoever else tries: behind a launcher every rank may.
class Lock {
 public:
  /// Waits until nobody else has it.
  explicit Lock(const fs::path& file)
      : fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~Lock() {
    if (fd_ >= 0) ::close(fd_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int fd_;
};

/// At least as many as there are threads: each has a log of its own.
size_t count_files(const fs::path& folder) {
  std::error_code ignored;
  size_t files = 0;
  for (fs::recursive_directory_iterator at(folder, ignored), end; at != end; at.increment(ignored))
    ++files;
  return files;
}

Result<RunFacts> write_trace(const fs::path& raw, const fs::path& archive, unsigned threads) {
  auto writer = trace::create_otf2(archive, count_files(raw));
  if (!writer) return writer.error();
  return run_passes(raw, **writer, {threads, read_symbols, NameCache::of_user()});
}

}  // namespace

bool needs_assembly(const fs::path& experiment) {
  std::error_code ignored;
  if (fs::exists(experiment / "trace" / "traces.otf2", ignored)) return false;
  for (const auto& entry : fs::directory_iterator(experiment / "raw", ignored)) {
    if (entry.is_directory(ignored)) return true;
  }
  return false;
}

Result<std::vector<StuckGroup>> look_for_stuck(const fs::path& experiment, unsigned threads) {
  return run_passes_until_stuck(experiment / "raw", {threads, read_symbols, NameCache::of_user()});
}

Result<RunFacts> assemble(const fs::path& experiment, unsigned threads, bool keep_raw) {
  const fs::path raw = experiment / "raw";
  std::error_code error;
  if (!fs::is_directory(raw, error)) {
    auto facts = read_facts(experiment);  // somebody else may just have done it
    if (facts) return facts;
    return Error{fmt::format("{} holds no records", experiment.string())};
  }
  const Lock lock(raw / "lock");
  if (!needs_assembly(experiment)) {
    auto facts = read_facts(experiment);
    if (facts) return facts;
    return Error{
        "the program used neither MPI nor OpenMP nor a device: there is nothing to analyze"};
  }
  auto facts = assemble_into(experiment, experiment, threads);
  if (facts && !keep_raw) fs::remove_all(raw, error);
  return facts;
}

Result<RunFacts> assemble_into(const fs::path& into, const fs::path& experiment, unsigned threads) {
  std::error_code error;
  const fs::path trace = into / "trace";
  if (fs::exists(trace, error)) {
    return Error{fmt::format(
        "{} has lost its traces.otf2: remove that folder, and the trace is written again from the "
        "records in {}",
        trace.string(), (experiment / "raw").string())};
  }
  const fs::path unfinished = into / "trace.tmp";
  fs::remove_all(unfinished, error);
  auto facts = write_trace(experiment / "raw", unfinished, threads);
  // The archive appears last: as long as it is not there, assembly can be done again.
  Result<void> written = facts ? write_facts(into, facts.value()) : facts.error();
  if (written) {
    fs::rename(unfinished, trace, error);
    if (error) {
      written = Error{fmt::format("cannot write {}: {}", trace.string(), error.message())};
    }
  }
  if (written) return facts;
  fs::remove_all(unfinished, error);
  return written.error();
}

}  // namespace culprit::assemble
