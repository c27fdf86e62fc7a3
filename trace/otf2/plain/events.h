// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads a location's file of events without OTF2, which takes several times as long. A file is read
// chunk by chunk into memory, never mapped: where it shrinks meanwhile, fewer bytes come.
#pragma once

#include <cstdint>
#include <memory>

#include "base/files/regular_file.h"
#include "trace/otf2/events.h"
#include "trace/otf2/plain/local_definitions.h"

namespace culprit::trace::plain {

/// Room for a chunk. Used for one file after the other, because new memory costs more than reading.
class ChunkRoom {
 public:
  /// At least that many bytes, with any content.
  uint8_t* of(size_t bytes);

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_ = 0;
};

struct EventsRead {
  uint64_t records = 0;
  bool damaged =
      false;  ///< it went on with something else than a record, or ended without its mark
};

/// Whether the file begins as one of events does. If not, OTF2 has to say why.
bool begins_with_chunk(const RegularFile& file);

/// Plays the file's records into `decoder`, up to the first that is damaged. `chunk_bytes`: what
/// the archive says; a chunk takes no more memory than the file has bytes.
EventsRead read_events(const RegularFile& file, uint64_t chunk_bytes, const LocalDefinitions& local,
                       EventDecoder& decoder, ChunkRoom& room);

}  // namespace culprit::trace::plain
