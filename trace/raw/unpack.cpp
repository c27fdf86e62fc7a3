// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Bytes are read without looking where the content ends, within one record: no record reads more
// than kRawUnpackSlack.
#include <algorithm>
#include <bit>
#include <cstring>

#include "trace/raw/packed.h"
#include "trace/raw/packed_fields.h"

namespace culprit::trace {

using namespace raw_packed;

namespace {

constexpr size_t kMostOfNumber = 10;
constexpr size_t kMostWords = UINT8_MAX;
static_assert(kRawUnpackSlack >=
              16 + (kRawWordsCompared + 1) * kMostOfNumber + kMostWords * sizeof(uint64_t));

class Unpacker {
 public:
  Unpacker(RawModel& model, std::span<const char> content)
      : model_(model),
        at_(reinterpret_cast<const uint8_t*>(content.data())),
        end_(at_ + content.size()) {}

  /// The next record into `to`; its size, or 0 if that has no room for it.
  size_t next(std::span<char> to) {
    RawModel::Slot& slot = model_.slot();
    const uint8_t first = *at_++;
    RawHeader header = {0, slot.arg, slot.flags, slot.words, slot.kind};
    if ((first & kRawDiffersShape) != 0) {
      header.kind = static_cast<RawKind>(*at_++);
      header.words = *at_++;
    }
    if ((first & kRawDiffersArg) != 0) header.arg += static_cast<uint32_t>(difference());
    if ((first & kRawDiffersFlags) != 0) {
      std::memcpy(&header.flags, at_, sizeof header.flags);
      at_ += sizeof header.flags;
    }
    header.time = model_.time() + time(first >> kRawTimeShift & (kRawShortTime + 1));
    const size_t bytes = sizeof header + header.words * sizeof(uint64_t);
    if (bytes > to.size()) return 0;
    std::memcpy(to.data(), &header, sizeof header);
    words((first & kRawDiffersWords) != 0, header.words, slot, to.data() + sizeof header);
    model_.take(slot, header);
    return bytes;
  }

  bool has_more() const { return at_ < end_; }
  bool is_at_end() const { return at_ == end_; }

 private:
  static uint64_t unfolded(uint64_t value) { return value >> 1 ^ (~(value & 1) + 1); }

  uint64_t difference() {
    uint64_t value = 0;
    for (unsigned i = 0; i < kMostOfNumber; ++i) {
      const uint8_t byte = *at_++;
      value |= uint64_t{byte & 127u} << 7 * i;
      if (byte < 128) break;
    }
    return unfolded(value);
  }

  uint64_t time(unsigned bytes) {
    uint64_t value = 0;
    std::memcpy(&value, at_, sizeof value);
    if (bytes > kRawShortTime) bytes = sizeof value;
    at_ += bytes;
    if (bytes < sizeof value) value &= (uint64_t{1} << 8 * bytes) - 1;
    return unfolded(value);
  }

  void words(bool differ, unsigned count, RawModel::Slot& slot, char* to) {
    constexpr unsigned kAll = (1u << kRawWordsCompared) - 1;
    for (unsigned others = differ ? *at_++ & kAll : 0; others != 0; others &= others - 1) {
      slot.compared[std::countr_zero(others)] += difference();
    }
    const unsigned compared = std::min(count, kRawWordsCompared);
    std::memcpy(to, slot.compared, compared * sizeof(uint64_t));
    const size_t behind = (count - compared) * sizeof(uint64_t);
    std::memcpy(to + compared * sizeof(uint64_t), at_, behind);
    at_ += behind;
  }

  RawModel& model_;
  const uint8_t* at_;
  const uint8_t* const end_;
};

}  // namespace

bool raw_unpack(RawModel& model, std::span<const char> content, std::span<char> to) {
  if (content.size() == to.size()) {
    std::copy(content.begin(), content.end(), to.begin());
    return true;
  }
  model.begin();
  Unpacker from(model, content);
  while (!to.empty() && from.has_more()) {
    const size_t bytes = from.next(to);
    if (bytes == 0) return false;
    to = to.subspan(bytes);
  }
  return to.empty() && from.is_at_end();
}

}  // namespace culprit::trace
