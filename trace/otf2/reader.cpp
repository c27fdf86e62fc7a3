// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One OTF2_Reader serves all threads (with OTF2's locks around its own lists): as fast as a reader
// for each thread, and global definitions are read once. A location's local definitions are read
// with its events, because with many locations opening their files is what costs.
#include "trace/otf2/reader.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "trace/otf2/anchor.h"
#include "trace/otf2/definitions.h"
#include "trace/otf2/events.h"
#include "trace/otf2/library.h"
#include "trace/otf2/loss_properties.h"

namespace culprit::trace {

namespace {

namespace fs = std::filesystem;

struct CloseReader {
  void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
};
using ReaderHandle = std::unique_ptr<OTF2_Reader, CloseReader>;

/// Whether each location has one file, not compressed: then sizes of files are meaningful.
bool has_plain_files(OTF2_Reader* reader) {
  OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
  OTF2_Compression compression = OTF2_COMPRESSION_UNDEFINED;
  OTF2_Reader_GetFileSubstrate(reader, &substrate);
  OTF2_Reader_GetCompression(reader, &compression);
  return substrate == OTF2_SUBSTRATE_POSIX && compression <= OTF2_COMPRESSION_NONE;
}

class Otf2Source final : public Source {
 public:
  Otf2Source(fs::path anchor, ReaderHandle reader, ResolvedDefinitions archive)
      : anchor_(std::move(anchor)), reader_(std::move(reader)), archive_(std::move(archive)) {
    plain_files_ = has_plain_files(reader_.get());
    localized_ = std::make_unique<std::once_flag[]>(archive_.definitions.locations.size());
  }
  ~Otf2Source() override {
    OTF2_Reader_CloseEvtFiles(reader_.get());
    OTF2_Reader_CloseDefFiles(reader_.get());
  }

  const Definitions& definitions() const override { return archive_.definitions; }
  uint64_t expected_events() const override;
  Result<void> read(LocationId location, EventSink& sink, Losses& losses) const override;

 private:
  FileState state(OTF2_LocationRef location, const char* extension) const;
  uint64_t most_records(OTF2_LocationRef location, const char* extension) const;
  void apply_local_definitions(OTF2_LocationRef location, Losses& losses) const;

  fs::path anchor_;
  bool plain_files_ = false;
  ReaderHandle reader_;
  ResolvedDefinitions archive_;
  /// By location: OTF2 keeps its local definitions, and reports a second reading of them as damage.
  std::unique_ptr<std::once_flag[]> localized_;
};

/// Checked beforehand, because OTF2's own message ("file interaction failed") is of no help.
FileState Otf2Source::state(OTF2_LocationRef location, const char* extension) const {
  const fs::path folder = fs::path(anchor_).replace_extension();
  return plain_files_ ? state_of(folder / (std::to_string(location) + extension))
                      : FileState::whole;
}

uint64_t Otf2Source::most_records(OTF2_LocationRef location, const char* extension) const {
  const fs::path folder = fs::path(anchor_).replace_extension();
  return plain_files_ ? more_records_than(folder / (std::to_string(location) + extension))
                      : UINT64_MAX;
}

/// Mappings of local to global references, and clock offsets: the event reader applies them.
void Otf2Source::apply_local_definitions(OTF2_LocationRef location, Losses& losses) const {
  const FileState file = state(location, ".def");
  std::optional<ZeroedMemory> zeroed;
  if (file == FileState::cut_short) zeroed.emplace();
  OTF2_DefReader* local =
      file == FileState::missing ? nullptr : OTF2_Reader_GetDefReader(reader_.get(), location);
  if (!local) {
    losses.add(LossKind::locations_without_local_definitions);
    return;
  }
  uint64_t read = 0;
  const uint64_t most = most_records(location, ".def");
  if (OTF2_Reader_ReadLocalDefinitions(reader_.get(), local, most, &read) != OTF2_SUCCESS ||
      read == most) {
    losses.add(LossKind::damaged_local_definitions);
  }
  OTF2_Reader_CloseDefReader(reader_.get(), local);
}

/// The archive's own counts, but a damaged one may promise anything.
uint64_t Otf2Source::expected_events() const {
  uint64_t sum = 0;
  for (const Location& location : archive_.definitions.locations) {
    const FileState file = state(location.file_id, ".evt");
    const uint64_t most = file == FileState::missing ? 0 : most_records(location.file_id, ".evt");
    sum += std::min<uint64_t>(location.event_count, most);
  }
  return sum;
}

Result<void> Otf2Source::read(LocationId location, EventSink& sink, Losses& losses) const {
  const Location& wanted = archive_.definitions.locations[location.index()];
  take_otf2_complaint();
  std::call_once(localized_[location.index()],
                 [&] { apply_local_definitions(wanted.file_id, losses); });
  const FileState file = state(wanted.file_id, ".evt");
  const bool absent = file == FileState::missing;
  if (absent && wanted.event_count == 0) return {};
  std::optional<ZeroedMemory> zeroed;
  if (file == FileState::cut_short) zeroed.emplace();
  OTF2_EvtReader* events =
      absent ? nullptr : OTF2_Reader_GetEvtReader(reader_.get(), wanted.file_id);
  if (!events) {
    return Error{"cannot read the events of location " + std::to_string(wanted.file_id) + " in " +
                 anchor_.string() + ": " +
                 (absent ? "their file is missing" : take_otf2_complaint())};
  }
  EventDecoder decoder(archive_, location, sink);
  OTF2_Reader_RegisterEvtCallbacks(reader_.get(), events, EventDecoder::callbacks(), &decoder);
  uint64_t read = 0;
  const uint64_t most = most_records(wanted.file_id, ".evt");
  const OTF2_ErrorCode status = OTF2_Reader_ReadLocalEvents(reader_.get(), events, most, &read);
  OTF2_Reader_CloseEvtReader(reader_.get(), events);
  if (status != OTF2_SUCCESS || read == most) {
    losses.add(LossKind::truncated_locations);
  }
  if (read < wanted.event_count) {
    losses.add(LossKind::missing_events, wanted.event_count - read);
  }
  decoder.finish(losses);
  return {};
}

std::string take(char* text) {
  std::string taken = text ? text : "";
  std::free(text);
  return taken;
}

void describe(OTF2_Reader* reader, Definitions& definitions, Losses& losses) {
  char* text = nullptr;
  if (OTF2_Reader_GetCreator(reader, &text) == OTF2_SUCCESS) definitions.creator = take(text);
  text = nullptr;
  if (OTF2_Reader_GetDescription(reader, &text) == OTF2_SUCCESS) definitions.program = take(text);
  uint32_t count = 0;
  char** names = nullptr;
  if (OTF2_Reader_GetPropertyNames(reader, &count, &names) != OTF2_SUCCESS) return;
  for (uint32_t i = 0; i < count; ++i) {
    char* value = nullptr;
    if (OTF2_Reader_GetProperty(reader, names[i], &value) != OTF2_SUCCESS) continue;
    std::string told = take(value);
    if (restore_loss(names[i], told, losses)) continue;
    definitions.properties.emplace_back(names[i], std::move(told));
  }
  std::free(names);
}

Error cannot_open(const fs::path& anchor, const std::string& why) {
  return Error{"cannot read the trace " + anchor.string() + ": " + why};
}

}  // namespace

Result<std::unique_ptr<Source>> open_otf2(const fs::path& anchor, Losses& losses) {
  silence_otf2();
  take_otf2_complaint();
  if (std::string why = anchor_refusal(anchor); !why.empty()) return cannot_open(anchor, why);
  // OTF2 opens all others by their names.
  if (std::string why = refusal_of_files(anchor); !why.empty()) return cannot_open(anchor, why);

  ReaderHandle reader(OTF2_Reader_Open(anchor.c_str()));
  if (!reader) {
    const std::string needed = needed_of_library(anchor);
    return cannot_open(
        anchor, needed.empty() ? "it is an OTF2 anchor file, but damaged or truncated" : needed);
  }
  lock_otf2(reader.get());
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());

  std::optional<ZeroedMemory> zeroed;
  const fs::path file = fs::path(anchor).replace_extension(".def");
  if (state_of(file) == FileState::cut_short) zeroed.emplace();
  Result<RawGlobalDefinitions> raw = collect_definitions(
      reader.get(), has_plain_files(reader.get()) ? more_records_than(file) : UINT64_MAX);
  if (!raw) return cannot_open(anchor, raw.error().sentence);
  if (raw->resolution == 0) return cannot_open(anchor, "its clock has a resolution of zero");
  ResolvedDefinitions archive = resolve_definitions(*raw, losses);
  if (archive.definitions.locations.empty()) return cannot_open(anchor, "it has no locations");
  describe(reader.get(), archive.definitions, losses);

  for (const Location& location : archive.definitions.locations) {
    OTF2_Reader_SelectLocation(reader.get(), location.file_id);
  }
  OTF2_Reader_OpenDefFiles(reader.get());
  OTF2_Reader_OpenEvtFiles(reader.get());
  return std::unique_ptr<Source>(
      std::make_unique<Otf2Source>(anchor, std::move(reader), std::move(archive)));
}

bool archive_was_damaged(const Losses& losses) {
  constexpr LossKind kDamage[] = {LossKind::truncated_locations, LossKind::missing_events,
                                  LossKind::unreadable_locations,
                                  LossKind::damaged_local_definitions, LossKind::times_absurd};
  return std::any_of(std::begin(kDamage), std::end(kDamage),
                     [&](LossKind kind) { return losses.contains(kind); });
}

}  // namespace culprit::trace
