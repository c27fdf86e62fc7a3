// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Archives as other writers make them, written with OTF2 itself.
#pragma once

#include <gtest/gtest.h>
#include <otf2/otf2.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recording_sink.h"
#include "trace/otf2/reader.h"

namespace culprit::trace {

inline OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

/// An archive under construction: events of locations first, then definitions.
class ForeignArchive {
 public:
  explicit ForeignArchive(const std::filesystem::path& folder)
      : archive_(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)),
        anchor_(folder / "traces.otf2") {
    static constexpr OTF2_FlushCallbacks kFlush{flush_always, nullptr};
    OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
    OTF2_Archive_OpenEvtFiles(archive_);
  }

  OTF2_Archive* archive() { return archive_; }
  void events(OTF2_LocationRef location, const std::function<void(OTF2_EvtWriter*)>& write) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_, location);
    write(writer);
    OTF2_Archive_CloseEvtWriter(archive_, writer);
  }
  OTF2_GlobalDefWriter* definitions(uint64_t resolution, uint64_t offset) {
    OTF2_Archive_CloseEvtFiles(archive_);
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    OTF2_GlobalDefWriter_WriteClockProperties(definitions_, resolution, offset, 1000,
                                              OTF2_UNDEFINED_TIMESTAMP);
    string(0, "");
    return definitions_;
  }
  void string(OTF2_StringRef ref, const char* text) {
    OTF2_GlobalDefWriter_WriteString(definitions_, ref, text);
  }
  void process(OTF2_LocationGroupRef ref,
               OTF2_LocationGroupType type = OTF2_LOCATION_GROUP_TYPE_PROCESS,
               OTF2_LocationGroupRef creator = OTF2_UNDEFINED_LOCATION_GROUP) {
    OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, ref, 0, type, 0, creator);
  }
  void location(OTF2_LocationRef ref, uint64_t events, OTF2_LocationGroupRef group,
                OTF2_LocationType type = OTF2_LOCATION_TYPE_CPU_THREAD) {
    OTF2_GlobalDefWriter_WriteLocation(definitions_, ref, 0, type, events, group);
  }
  void region(OTF2_RegionRef ref, OTF2_RegionRole role, OTF2_Paradigm paradigm) {
    OTF2_GlobalDefWriter_WriteRegion(definitions_, ref, 0, 0, 0, role, paradigm,
                                     OTF2_REGION_FLAG_NONE, 0, 0, 0);
  }
  void group(OTF2_GroupRef ref, OTF2_GroupType type, const std::vector<uint64_t>& members) {
    OTF2_GlobalDefWriter_WriteGroup(definitions_, ref, 0, type, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(members.size()),
                                    members.data());
  }
  std::unique_ptr<Source> open(Losses& losses) {
    if (definitions_) OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_);
    OTF2_Archive_Close(archive_);
    auto source = open_otf2(anchor_, losses);
    EXPECT_TRUE(source.ok()) << source.error().sentence;
    return source.ok() ? std::move(source).value() : nullptr;
  }

 private:
  OTF2_Archive* archive_;
  std::filesystem::path anchor_;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
};

/// What a location plays.
inline std::vector<std::string> lines(const Source& source, size_t location, Losses& losses) {
  RecordingSink sink;
  const auto result = source.read(LocationId(location), sink, losses);
  EXPECT_TRUE(result.ok()) << result.error().sentence;
  return sink.lines;
}

/// How often that was lost.
inline uint64_t lost(const Losses& losses, const std::string& name) {
  auto it = losses.all().find(name);
  return it == losses.all().end() ? 0 : it->second.count;
}

}  // namespace culprit::trace
