// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OTF2 as a library within a tool: it prints its complaints on the terminal and knows no threads
// by default. Every use of it begins with silence_otf2().
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/files/regular_file.h"

namespace culprit::trace {

/// From now on OTF2's messages are kept instead of printed. MT: safe, at any time.
void silence_otf2();

/// OTF2's first error message on this thread since the last call; empty if there was none.
std::string take_otf2_complaint();

/// Makes the handle usable from several threads.
void lock_otf2(OTF2_Reader* reader);
void lock_otf2(OTF2_Archive* archive);

/// While it lives, all new memory of this process is zero. OTF2 takes a chunk that its file lacks
/// for read, whatever the memory held before: where that was the same file, it reads on forever.
/// Costs time: for files that are cut short. MT: safe, several may live.
class ZeroedMemory {
 public:
  ZeroedMemory();
  ~ZeroedMemory();
  ZeroedMemory(const ZeroedMemory&) = delete;
  ZeroedMemory& operator=(const ZeroedMemory&) = delete;
};

/// A file of definitions or events: whether it is there, and ends as OTF2 ends its files.
enum class FileState { missing, cut_short, whole };
FileState state_of(const std::filesystem::path& file);
/// More records than a file of events or definitions can hold; all there are if it is not there.
/// Who reads this many goes round in a circle, as OTF2 may in damaged files.
uint64_t more_records_than(const std::filesystem::path& file);
uint64_t more_records_than(const RegularFile& file);

}  // namespace culprit::trace
