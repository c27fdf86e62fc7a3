// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Events first, definitions last: OTF2 allows it, and the assembler knows all regions only once it
// has seen all records. Full chunks go straight to the file, so memory stays at one chunk for each
// location that is open.
#include "trace/otf2/writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "trace/otf2/define.h"
#include "trace/otf2/library.h"
#include "trace/otf2/sink.h"

namespace culprit::trace {

namespace {

namespace fs = std::filesystem;

/// OTF2 reads and writes in chunks, and its readers fill one of each size with zeros for every
/// location: large ones take longer than the events of short time lines.
constexpr uint64_t kEventChunk = OTF2_CHUNK_SIZE_MIN;

/// A record must fit into a chunk. The largest is a group of all locations. The size must differ
/// from that of the events' chunks: with damaged files OTF2 may read a chunk that it has not
/// filled, whose memory must then not contain a chunk of definitions.
uint64_t definition_chunk(size_t locations) {
  constexpr uint64_t kMember = 9, kRest = uint64_t{64} << 10;
  return std::clamp<uint64_t>(std::bit_ceil(kRest + kMember * locations), 2 * kEventChunk,
                              OTF2_CHUNK_SIZE_MAX);
}

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
/// Without a post-flush callback no BufferFlush records are written: no reader needs them.
constexpr OTF2_FlushCallbacks kFlush{flush_always, nullptr};

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { OTF2_Archive_Close(archive); }
};
using ArchiveHandle = std::unique_ptr<OTF2_Archive, CloseArchive>;

class Writer final : public Otf2Writer {
 public:
  Writer(fs::path folder, ArchiveHandle archive)
      : folder_(std::move(folder)), archive_(std::move(archive)) {}

  std::unique_ptr<EventSink> open(ProcessId process, uint32_t thread) override;
  Result<void> finish(const Definitions& definitions) override;

 private:
  void describe(const Definitions& definitions);
  std::vector<WrittenLocation> gather(const Definitions& definitions);
  bool write_local_definitions(const Definitions& definitions, const TeamReferences& teams);
  Error failure(const std::string& what) const;

  fs::path folder_;
  ArchiveHandle archive_;
  std::mutex mutex_;
  std::map<OTF2_LocationRef, WrittenLocation> written_;  ///< nodes stay where they are
};

std::unique_ptr<EventSink> Writer::open(ProcessId process, uint32_t thread) {
  const std::lock_guard lock(mutex_);
  const OTF2_LocationRef ref = location_ref(process, thread);
  auto [it, is_new] = written_.try_emplace(ref);
  CULPRIT_CHECK(is_new);
  OTF2_EvtWriter* events = OTF2_Archive_GetEvtWriter(archive_.get(), ref);
  if (!events) {
    it->second.failed = true;
    return std::make_unique<EventSink>();
  }
  return std::make_unique<Otf2Sink>(archive_.get(), events, it->second);
}

Error Writer::failure(const std::string& what) const {
  std::string why = take_otf2_complaint();
  return Error{"cannot write the trace " + folder_.string() + ": " + what +
               (why.empty() ? "" : " (" + why + ")")};
}

/// Promises to other tools, unless the caller changes them.
constexpr std::array<std::pair<const char*, const char*>, 4> kProperties{{
    {"OTF2::MPI_COMMUNICATION_COMPLETE", "true"},
    {"OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE", "true"},
    {"OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE", "false"},
    {"OTF2::THREAD_LOCK_EVENT_COMPLETE", "false"},
}};

void Writer::describe(const Definitions& definitions) {
  OTF2_Archive_SetCreator(archive_.get(), definitions.creator.c_str());
  OTF2_Archive_SetDescription(archive_.get(), definitions.program.c_str());
  for (const auto& [name, value] : kProperties) {
    OTF2_Archive_SetProperty(archive_.get(), name, value, true);
  }
  for (const auto& [name, value] : definitions.properties) {
    OTF2_Archive_SetProperty(archive_.get(), name.c_str(), value.c_str(), true);
  }
}

/// By LocationId. Locations without events get an empty file, as readers expect one for each.
std::vector<WrittenLocation> Writer::gather(const Definitions& definitions) {
  std::vector<WrittenLocation> by_location;
  by_location.reserve(definitions.locations.size());
  for (const Location& location : definitions.locations) {
    auto it = written_.find(location_ref(location.process, location.thread));
    if (it == written_.end()) {
      open(location.process, location.thread);
      it = written_.find(location_ref(location.process, location.thread));
    }
    by_location.push_back(it->second);
  }
  CULPRIT_CHECK(written_.size() == by_location.size());  // each opened location is defined once
  return by_location;
}

/// Each location says what its references mean elsewhere: the same, but for its thread team.
bool Writer::write_local_definitions(const Definitions& definitions, const TeamReferences& teams) {
  bool fine = OTF2_Archive_OpenDefFiles(archive_.get()) == OTF2_SUCCESS;
  for (const Location& location : definitions.locations) {
    OTF2_DefWriter* local =
        OTF2_Archive_GetDefWriter(archive_.get(), location_ref(location.process, location.thread));
    if (!local) return false;
    const OTF2_CommRef team = teams.by_process[location.process.index()];
    if (team != OTF2_UNDEFINED_COMM) {
      OTF2_IdMap* map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 1);
      OTF2_IdMap_AddIdPair(map, kLocalTeam, team);
      fine &= OTF2_DefWriter_WriteMappingTable(local, OTF2_MAPPING_COMM, map) == OTF2_SUCCESS;
      OTF2_IdMap_Free(map);
    }
    fine &= OTF2_Archive_CloseDefWriter(archive_.get(), local) == OTF2_SUCCESS;
  }
  return (OTF2_Archive_CloseDefFiles(archive_.get()) == OTF2_SUCCESS) && fine;
}

Result<void> Writer::finish(const Definitions& definitions) {
  take_otf2_complaint();
  const std::vector<WrittenLocation> written = gather(definitions);
  for (const WrittenLocation& location : written) {
    if (location.failed) return failure("not all events could be written; is the disk full?");
  }
  OTF2_Archive_CloseEvtFiles(archive_.get());
  describe(definitions);
  OTF2_GlobalDefWriter* global = OTF2_Archive_GetGlobalDefWriter(archive_.get());
  if (!global) return failure("no definitions can be written");
  const TeamReferences teams = write_definitions(global, definitions, written);
  if (teams.status != OTF2_SUCCESS ||
      OTF2_Archive_CloseGlobalDefWriter(archive_.get(), global) != OTF2_SUCCESS) {
    return failure("definitions could not be written");
  }
  if (!write_local_definitions(definitions, teams)) {
    return failure("local definitions could not be written");
  }
  if (OTF2_Archive_Close(archive_.release()) != OTF2_SUCCESS) {
    return failure("the anchor file could not be written");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Otf2Writer>> create_otf2(const fs::path& folder, size_t locations) {
  silence_otf2();
  take_otf2_complaint();
  const auto refuse = [&](const std::string& why) {
    return Error{"cannot create the trace " + folder.string() + ": " + why};
  };
  std::error_code error;
  if (fs::exists(folder, error) &&
      (!fs::is_directory(folder, error) || !fs::is_empty(folder, error)))
    return refuse("the folder exists and is not empty");
  fs::create_directories(folder, error);
  if (error) return refuse(error.message());

  ArchiveHandle archive(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE,
                                          kEventChunk, definition_chunk(locations),
                                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
  if (!archive) return refuse(take_otf2_complaint());
  lock_otf2(archive.get());
  OTF2_Archive_SetFlushCallbacks(archive.get(), &kFlush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive.get());
  if (OTF2_Archive_OpenEvtFiles(archive.get()) != OTF2_SUCCESS)
    return refuse(take_otf2_complaint());
  return std::unique_ptr<Otf2Writer>(std::make_unique<Writer>(folder, std::move(archive)));
}

}  // namespace culprit::trace
