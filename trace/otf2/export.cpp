// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Definitions first, then locations in parallel, each by its own writer, as OTF2 wants it.
#include "trace/otf2/export.h"

#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/guarded_path.h"
#include "base/parallel.h"
#include "base/progress/progress.h"
#include "trace/otf2/loss_properties.h"
#include "trace/otf2/writer.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

Result<void> write_archive(const Source& source, const fs::path& folder, unsigned threads,
                           Losses& losses) {
  const Definitions& definitions = source.definitions();
  const size_t count = definitions.locations.size();
  auto writer = create_otf2(folder, count);
  if (!writer) return writer.error();
  std::vector<Losses> lost(count);
  std::vector<Result<void>> read(count);
  progress::Progress progress(progress::Stage::archive, count);
  parallel_for(count, threads, [&](size_t i) {
    const Location& location = definitions.locations[i];
    const auto sink = (*writer)->open(location.process, location.thread);
    read[i] = source.read(LocationId(i), *sink, lost[i]);
    progress.step();
  });
  for (size_t i = 0; i < count; ++i) {
    if (!read[i]) return read[i];
    losses.merge(lost[i]);
  }
  Definitions described = definitions;
  for (auto& property : properties_of(losses)) described.properties.push_back(std::move(property));
  return (*writer)->finish(described);
}

}  // namespace

Result<void> export_otf2(const Source& source, const fs::path& folder, unsigned threads,
                         Losses& losses) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  const fs::path named = whole.has_filename() ? whole : whole.parent_path();
  const GuardedPath place = GuardedPath::of_file(named);
  if (place.exists() && (!place.is_folder() || !place.list().empty())) {
    return Error{
        "cannot create the trace " + folder.string() + ": " +
        (place.is_folder() ? "the folder exists and is not empty" : "it exists and is no folder")};
  }
  std::error_code error;
  fs::create_directories(named.parent_path(), error);
  // OTF2 makes its files by their names: so they are in a folder whose name cannot be guessed.
  const GuardedPath draft = GuardedPath(named.parent_path()) / ("." + unguessable() + ".tmp");
  if (auto made = draft.make_folder(); !made) return made;
  Result<void> written = write_archive(source, draft.path(), threads, losses);
  if (written) written = draft.rename_folder(named.filename().string());
  if (!written) fs::remove_all(draft.path(), error);
  return written;
}

}  // namespace culprit::trace
