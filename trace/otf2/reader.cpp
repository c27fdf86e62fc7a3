// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OTF2 reads the global definitions. Of a location's two files our own reader (plain/) takes those
// that are plain: one file for each location, not compressed; local definitions that are one chunk
// and all sound; events that begin with a chunk. OTF2 reads all others, and is who says what is
// wrong with them. One OTF2_Reader serves all threads (with OTF2's locks around its own lists): as
// fast as a reader for each thread, and global definitions are read once. A location's local
// definitions are read with its events, because with many locations opening their files is what
// costs.
#include "trace/otf2/reader.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/files/guarded_path.h"
#include "trace/otf2/anchor.h"
#include "trace/otf2/definitions.h"
#include "trace/otf2/events.h"
#include "trace/otf2/library.h"
#include "trace/otf2/loss_properties.h"
#include "trace/otf2/plain/events.h"
#include "trace/otf2/plain/local_definitions.h"
#include "trace/otf2/records/callbacks.h"

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

/// How many bytes a chunk of events or of definitions has; nothing if OTF2 would refuse it.
struct ChunkSizes {
  uint64_t events = 0, definitions = 0;
};
std::optional<ChunkSizes> chunk_sizes(OTF2_Reader* reader) {
  const auto usual = [](uint64_t bytes) {
    return bytes >= OTF2_CHUNK_SIZE_MIN && bytes <= OTF2_CHUNK_SIZE_MAX;
  };
  ChunkSizes sizes;
  OTF2_Reader_GetChunkSize(reader, &sizes.events, &sizes.definitions);
  if (!usual(sizes.events) || !usual(sizes.definitions)) return std::nullopt;
  return sizes;
}

/// A room for each thread that reads.
class Rooms {
 public:
  plain::ChunkRoom take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    plain::ChunkRoom room = std::move(spare_.back());
    spare_.pop_back();
    return room;
  }
  void give_back(plain::ChunkRoom room) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(room));
  }

 private:
  std::mutex mutex_;
  std::vector<plain::ChunkRoom> spare_;
};

class Otf2Source final : public Source {
 public:
  Otf2Source(fs::path anchor, ReaderHandle reader, ResolvedDefinitions archive, EventReader events)
      : anchor_(std::move(anchor)),
        folder_(fs::path(anchor_).replace_extension()),
        reader_(std::move(reader)),
        archive_(std::move(archive)) {
    plain_files_ = has_plain_files(reader_.get());
    if (plain_files_ && events == EventReader::own) chunks_ = chunk_sizes(reader_.get());
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
  GuardedPath file_of(const Location& location, const char* extension) const {
    return folder_ / (std::to_string(location.file_id) + extension);
  }
  FileState state(OTF2_LocationRef location, const char* extension) const;
  uint64_t most_records(OTF2_LocationRef location, const char* extension) const;
  std::optional<plain::LocalDefinitions> plain_definitions(LocationId location,
                                                           Losses& losses) const;
  std::optional<plain::EventsRead> read_plain(LocationId location, EventDecoder& decoder,
                                              Losses& losses) const;
  void apply_local_definitions(OTF2_LocationRef location, Losses& losses) const;
  Result<plain::EventsRead> read_by_otf2(LocationId location, EventDecoder& decoder,
                                         Losses& losses) const;

  fs::path anchor_;
  GuardedPath folder_;  ///< of the locations' files
  bool plain_files_ = false;
  std::optional<ChunkSizes> chunks_;  ///< if files are not to be read by OTF2 alone
  ReaderHandle reader_;
  ResolvedDefinitions archive_;
  /// By location: OTF2 keeps its local definitions, and reports a second reading of them as damage.
  std::unique_ptr<std::once_flag[]> localized_;
  mutable Rooms rooms_;
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
    if (!plain_files_) {
      sum += location.event_count;
    } else if (const auto file = file_of(location, ".evt").open()) {
      sum += std::min(location.event_count, more_records_than(*file));
    }
  }
  return sum;
}

/// Nothing: OTF2 has to read them.
std::optional<plain::LocalDefinitions> Otf2Source::plain_definitions(LocationId location,
                                                                     Losses& losses) const {
  const GuardedPath place = file_of(archive_.definitions.locations[location.index()], ".def");
  if (const auto file = place.open()) {
    return plain::read_local_definitions(*file, chunks_->definitions);
  }
  if (place.exists()) return std::nullopt;
  std::call_once(localized_[location.index()],
                 [&] { losses.add(LossKind::locations_without_local_definitions); });
  return plain::LocalDefinitions();
}

/// Nothing: the location's files are not plain, and nothing of them has been played.
std::optional<plain::EventsRead> Otf2Source::read_plain(LocationId location, EventDecoder& decoder,
                                                        Losses& losses) const {
  const auto file = file_of(archive_.definitions.locations[location.index()], ".evt").open();
  if (!file || !plain::begins_with_chunk(*file)) return std::nullopt;
  const auto local = plain_definitions(location, losses);
  if (!local) return std::nullopt;
  plain::ChunkRoom room = rooms_.take();
  const auto played = plain::read_events(*file, chunks_->events, *local, decoder, room);
  rooms_.give_back(std::move(room));
  return played;
}

Result<plain::EventsRead> Otf2Source::read_by_otf2(LocationId location, EventDecoder& decoder,
                                                   Losses& losses) const {
  const Location& wanted = archive_.definitions.locations[location.index()];
  take_otf2_complaint();
  std::call_once(localized_[location.index()],
                 [&] { apply_local_definitions(wanted.file_id, losses); });
  const FileState file = state(wanted.file_id, ".evt");
  const bool absent = file == FileState::missing;
  if (absent && wanted.event_count == 0) return plain::EventsRead();
  std::optional<ZeroedMemory> zeroed;
  if (file == FileState::cut_short) zeroed.emplace();
  OTF2_EvtReader* events =
      absent ? nullptr : OTF2_Reader_GetEvtReader(reader_.get(), wanted.file_id);
  if (!events) {
    return Error{"cannot read the events of location " + std::to_string(wanted.file_id) + " in " +
                 anchor_.string() + ": " +
                 (absent ? "their file is missing" : take_otf2_complaint())};
  }
  CallbackData data{decoder};
  OTF2_Reader_RegisterEvtCallbacks(reader_.get(), events, event_callbacks(), &data);
  uint64_t read = 0;
  const uint64_t most = most_records(wanted.file_id, ".evt");
  const OTF2_ErrorCode status = OTF2_Reader_ReadLocalEvents(reader_.get(), events, most, &read);
  OTF2_Reader_CloseEvtReader(reader_.get(), events);
  return plain::EventsRead{read, status != OTF2_SUCCESS || read == most};
}

Result<void> Otf2Source::read(LocationId location, EventSink& sink, Losses& losses) const {
  EventDecoder decoder(archive_, location, sink);
  std::optional<plain::EventsRead> played;
  if (chunks_) played = read_plain(location, decoder, losses);
  if (!played) {
    const auto by_otf2 = read_by_otf2(location, decoder, losses);
    if (!by_otf2) return by_otf2.error();
    played = *by_otf2;
  }
  const uint64_t promised = archive_.definitions.locations[location.index()].event_count;
  if (played->damaged) losses.add(LossKind::truncated_locations);
  if (played->records < promised) {
    losses.add(LossKind::missing_events, promised - played->records);
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

Result<std::unique_ptr<Source>> open_otf2(const fs::path& anchor, Losses& losses,
                                          EventReader events) {
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
      std::make_unique<Otf2Source>(anchor, std::move(reader), std::move(archive), events));
}

bool archive_was_damaged(const Losses& losses) {
  constexpr LossKind kDamage[] = {LossKind::truncated_locations, LossKind::missing_events,
                                  LossKind::unreadable_locations,
                                  LossKind::damaged_local_definitions, LossKind::times_absurd};
  return std::any_of(std::begin(kDamage), std::end(kDamage),
                     [&](LossKind kind) { return losses.contains(kind); });
}

}  // namespace culprit::trace
