// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// First all headers are found, by the length of the block before, or, behind damage, by looking for
// the next one; then each content is read and unpacked. A block whose header is right but not its
// content is known to be missing.
#include "assemble/raw/unpacked.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "assemble/raw/log_part.h"
#include "trace/raw/packed.h"

namespace culprit::assemble {
namespace {

using trace::RawBlock;

constexpr size_t kWord = sizeof(uint64_t);
/// No record that is packed takes less than this part of its size.
constexpr size_t kMostPacked = sizeof(trace::RawHeader) + trace::kRawWordsCompared * kWord;

struct Place {
  RawBlock block;
  uint64_t content = 0;  ///< where in the file
};

class BlockFinder {
 public:
  BlockFinder(const RegularFile& file, uint64_t start_ticks, uint32_t log)
      : file_(file), seed_(trace::raw_block_seed(start_ticks, log)) {}

  /// In the order of the log. Holes of the file are not looked at.
  std::vector<Place> find() {
    for (const Extent& extent : file_.data()) {
      for (at_ = std::max(at_, rounded_up(extent.begin, kWord)); at_ < extent.end;) {
        if (const auto block = block_at(at_)) {
          take(*block);
        } else {
          look_on(std::min<uint64_t>(extent.end, file_.size()));
        }
      }
    }
    return std::move(found_);
  }

 private:
  bool is_sound(const RawBlock& block, uint64_t at) const {
    if (block.magic != trace::kRawBlockMagic || block.window == UINT64_MAX) return false;
    return block.sum == trace::sum_of_block(block, seed_) && block.packed <= block.records &&
           block.records <= trace::kRawBlockRecords &&
           block.records <= size_t{block.packed} * kMostPacked &&
           at + sizeof block + trace::raw_whole_words(block.packed) <= file_.size();
  }

  std::optional<RawBlock> block_at(uint64_t at) const {
    RawBlock block;
    if (file_.read_at(at, &block, sizeof block) < sizeof block) return std::nullopt;
    return is_sound(block, at) ? std::optional(block) : std::nullopt;
  }

  /// Blocks out of order are copies, or were moved.
  void take(const RawBlock& block) {
    const auto place = [](const RawBlock& of) { return std::pair(of.window, of.begin); };
    if (found_.empty() || place(found_.back().block) < place(block)) {
      found_.push_back({block, at_ + sizeof block});
    }
    at_ += sizeof block + trace::raw_whole_words(block.packed);
  }

  /// Moves to the next word that could begin a block, or to `end`.
  void look_on(uint64_t end) {
    std::vector<uint64_t> words(trace::kRawBlockRecords / kWord);
    for (at_ += kWord; at_ < end;) {
      const size_t bytes = file_.read_at(at_, words.data(), words.size() * kWord);
      const auto last = words.begin() + static_cast<std::ptrdiff_t>(bytes / kWord);
      const auto next = std::find_if(words.begin(), last, [](uint64_t word) {
        return static_cast<uint32_t>(word) == trace::kRawBlockMagic;
      });
      at_ += static_cast<uint64_t>(next - words.begin()) * kWord;
      if (next != last) return;
      if (bytes < words.size() * kWord) at_ = std::max(at_, end);
    }
  }

  const RegularFile& file_;
  const uint64_t seed_;
  uint64_t at_ = 0;
  std::vector<Place> found_;
};

/// Reads one block after the other into memory.
class BlockReader {
 public:
  explicit BlockReader(const RegularFile& file)
      : file_(file), content_((trace::kRawBlockRecords + trace::kRawUnpackSlack) / kWord) {}

  bool read(const Place& place, std::byte* to) {
    const size_t whole = trace::raw_whole_words(place.block.packed);
    if (file_.read_at(place.content, content_.data(), whole) < whole) return false;
    if (trace::raw_sum(content_.data(), whole / kWord) != place.block.content) return false;
    return trace::raw_unpack(*model_,
                             {reinterpret_cast<const char*>(content_.data()), place.block.packed},
                             {reinterpret_cast<char*>(to), place.block.records});
  }

 private:
  const RegularFile& file_;
  std::vector<uint64_t> content_;
  std::unique_ptr<trace::RawModel> model_ = std::make_unique<trace::RawModel>();
};

/// Notes block by block what there is of each window.
class Judge {
 public:
  explicit Judge(Unpacked& to) : to_(to) {}

  void take(const RawBlock& block, bool is_read) {
    if (block.window + 1 != to_.windows) begin(block.window);
    to_.last_is_whole = false;
    is_all_ = is_all_ && is_read && block.begin == expected_;
    expected_ = uint64_t{block.begin} + block.records;
    if (!is_read) return;
    add(block.records);
    to_.last_is_whole = is_all_ && block.is_last != 0;
    to_.last_is_full = to_.last_is_whole && expected_ == block.window_bytes;
  }

 private:
  void begin(uint64_t window) {
    to_.damaged += to_.windows > 0 && !to_.last_is_whole ? 1 : 0;
    to_.damaged += window - to_.windows;
    to_.windows = window + 1;
    to_.before_last = to_.stretches.size();
    expected_ = 0;
    is_all_ = true;
  }

  void add(size_t records) {
    const size_t end = to_.bytes + records;
    auto& stretches = to_.stretches;
    const bool goes_on = stretches.size() > to_.before_last && stretches.back().end == to_.bytes;
    if (goes_on) {
      stretches.back().end = end;
    } else {
      stretches.push_back({to_.bytes, end});
    }
    to_.bytes = end;
  }

  Unpacked& to_;
  uint64_t expected_ = 0;
  bool is_all_ = true;
};

/// Readable and writable, for as many bytes and one window; none if there is no room.
std::shared_ptr<std::byte> memory_for(size_t bytes) {
  const size_t room = rounded_up(bytes, kRawPage) + trace::kRawWindow;
  void* const memory = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [room](std::byte* of) { munmap(of, room); }};
}

}  // namespace

std::optional<Unpacked> no_windows() {
  Unpacked none;
  none.data = memory_for(0);
  return none.data == nullptr ? std::nullopt : std::optional(std::move(none));
}

std::optional<Unpacked> unpack_windows(const RegularFile& file, uint64_t start_ticks,
                                       uint32_t log) {
  const std::vector<Place> places = BlockFinder(file, start_ticks, log).find();
  size_t bytes = 0;
  for (const Place& place : places) bytes += place.block.records;
  Unpacked unpacked;
  unpacked.data = memory_for(bytes);
  unpacked.file_bytes = file.size();
  if (unpacked.data == nullptr) return std::nullopt;
  BlockReader reader(file);
  Judge judge(unpacked);
  for (const Place& place : places) {
    judge.take(place.block, reader.read(place, unpacked.data.get() + unpacked.bytes));
  }
  return unpacked;
}

}  // namespace culprit::assemble
