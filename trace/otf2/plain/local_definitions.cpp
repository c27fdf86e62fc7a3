// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whatever is odd about a file makes it OTF2's: this reader knows nothing of damage. So it may stop
// at each thing that it does not expect.
#include "trace/otf2/plain/local_definitions.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "trace/otf2/plain/attribute_value.h"
#include "trace/otf2/plain/cursor.h"

namespace culprit::trace::plain {

namespace {

constexpr uint8_t kMappingTable = 5;
constexpr uint8_t kClockOffset = 6;

/// Definitions that say nothing about events, by what they are made of: b a byte, w and q numbers
/// of at most 32 and 64 bits, s a text that ends with a zero, W a byte and as many w, Q a w and as
/// many q, v the byte of a type and a value of it. Records of early versions end at the |.
struct OtherKind {
  uint8_t kind;
  std::string_view fields;
};
constexpr OtherKind kOthers[] = {
    {10, "ws"},           {11, "wwb|w"},  {12, "wwww"},   {13, "wwbw|w"},   {14, "qwbqw"},
    {15, "wwwbwww|wbbw"}, {16, "wwwww"},  {17, "www"},    {18, "wwbQ|bbw"}, {19, "wwwbbbbqw"},
    {20, "wWb|b"},        {21, "wwqbq"},  {22, "wwww|w"}, {23, "wwb"},      {24, "www|w"},
    {25, "wq"},           {26, "www|v"},  {27, "wb"},     {28, "www|v"},    {29, "qww|v"},
    {30, "wwwb"},         {31, "wwwW"},   {32, "wwW"},    {33, "www"},      {34, "wwww"},
    {35, "wwv"},          {36, "wwbbqq"}, {37, "wwv"},    {38, "www"},      {39, "www"},
    {40, "wwwbwww"},      {41, "wbw"},    {42, "wwv"},    {43, "wwwwww"},
};

/// Whether the record, up to `next`, is made of these fields and nothing else.
template <class In>
bool consists_of(In in, std::string_view fields, const uint8_t* next) {
  for (const char field : fields) {
    if (!in.ok() || in.place() > next) return false;
    switch (field) {
      case 'b':
        in.byte();
        break;
      case 'w':
        in.packed32();
        break;
      case 'q':
        in.packed64();
        break;
      case 's':
        while (in.place() < next && in.byte() != 0) {
        }
        break;
      case 'W':
        for (uint8_t count = in.byte(); count > 0 && in.ok(); --count) in.packed32();
        break;
      case 'Q':
        for (uint32_t count = in.packed32(); count > 0 && in.ok(); --count) in.packed64();
        break;
      case 'v':
        read_value(in, in.byte());
        break;
      default:
        if (in.place() == next) return true;
    }
  }
  return in.ok() && in.place() == next;
}

template <class In>
bool is_sound(const In& in, uint8_t kind, const uint8_t* next) {
  const auto other = std::find_if(std::begin(kOthers), std::end(kOthers),
                                  [&](const OtherKind& known) { return known.kind == kind; });
  return other != std::end(kOthers) && consists_of(in, other->fields, next);
}

/// Clock offsets as they come make intervals.
class Clock {
 public:
  /// False if time does not go on.
  bool add(uint64_t time, int64_t offset) {
    if (last_) {
      const auto& [begin, before] = *last_;
      if (begin >= time) return false;
      const auto change =
          static_cast<int64_t>(static_cast<uint64_t>(offset) - static_cast<uint64_t>(before));
      intervals_.push_back(
          {begin, time, before, static_cast<double>(change) / static_cast<double>(time - begin)});
    }
    last_ = {time, offset};
    return true;
  }
  std::vector<ClockInterval> intervals() && { return std::move(intervals_); }

 private:
  std::vector<ClockInterval> intervals_;
  std::optional<std::pair<uint64_t, int64_t>> last_;
};

template <class In>
std::optional<IdMap> read_map(In& in) {
  const uint64_t size = in.packed64();
  const uint8_t mode = in.byte();
  // Each number takes a byte at least.
  if (!in.ok() || size == 0 || size > in.left()) return std::nullopt;
  if (mode == OTF2_ID_MAP_DENSE) {
    std::vector<uint64_t> by_local(size);
    for (uint64_t& global : by_local) {
      global = in.packed64();
      if (!in.ok()) return std::nullopt;
    }
    return IdMap::dense(std::move(by_local));
  }
  if (mode != OTF2_ID_MAP_SPARSE || size > in.left() / 2) return std::nullopt;
  std::vector<std::pair<uint64_t, uint64_t>> pairs(size);
  for (auto& [local, global] : pairs) {
    local = in.packed64();
    global = in.packed64();
    if (!in.ok()) return std::nullopt;
  }
  return IdMap::sparse(std::move(pairs));
}

/// False at the first thing that is not plain.
template <class In>
bool read_records(In in, LocalDefinitions& found) {
  Clock clock;
  while (in.ok() && !in.at_end()) {
    const uint8_t kind = in.byte();
    if (kind == kEndOfFile) {
      found.clock = std::move(clock).intervals();
      return true;
    }
    const uint8_t* const next = in.end_of_record();
    if (!next) return false;
    if (kind != kMappingTable && kind != kClockOffset) {
      if (!is_sound(in, kind, next)) return false;
    } else if (kind == kMappingTable) {
      const uint8_t of = in.byte();
      std::optional<IdMap> map = read_map(in);
      if (!map || (of < found.maps.size() && !found.maps[of].empty())) return false;
      if (of < found.maps.size()) found.maps[of] = std::move(*map);
    } else {
      const auto time = in.template raw<uint64_t>();
      const auto offset = static_cast<int64_t>(in.packed64());
      in.template raw<uint64_t>();  // a standard deviation
      if (!in.ok() || !clock.add(time, offset)) return false;
    }
    if (in.place() > next) return false;
    in.go_to(next);
  }
  return false;
}

}  // namespace

uint64_t IdMap::sparse_global(uint64_t local) const {
  const auto after =
      std::upper_bound(sparse_.begin(), sparse_.end(), local,
                       [](uint64_t wanted, const auto& pair) { return wanted < pair.first; });
  const bool found = after != sparse_.begin() && std::prev(after)->first == local;
  return found ? std::prev(after)->second : local;
}

IdMap IdMap::dense(std::vector<uint64_t> by_local) {
  IdMap map;
  map.dense_ = std::move(by_local);
  return map;
}

IdMap IdMap::sparse(std::vector<std::pair<uint64_t, uint64_t>> pairs) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  IdMap map;
  map.sparse_ = std::move(pairs);
  return map;
}

/// In OTF2's arithmetic, so that times are equal to the last bit.
uint64_t ClockInterval::corrected(uint64_t time) const {
  const double since =
      time >= begin ? static_cast<double>(time - begin) : -static_cast<double>(begin - time);
  const double added = std::rint(slope * since);
  // A damaged table may say anything; beyond all times, processors convert to the lowest number.
  const bool fits = added >= -0x1p63 && added < 0x1p63;
  const int64_t whole = fits ? static_cast<int64_t>(added) : INT64_MIN;
  return time + static_cast<uint64_t>(offset) + static_cast<uint64_t>(whole);
}

std::optional<LocalDefinitions> read_local_definitions(const RegularFile& file,
                                                       uint64_t chunk_bytes) {
  const auto content = file.read(chunk_bytes);
  if (!content || content->size() < kHeaderBytes) return std::nullopt;
  const std::string bytes = *content + std::string(kSlack, '\0');
  const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = begin + content->size();
  const uint8_t* const records = begin + kHeaderBytes;
  LocalDefinitions found;
  const ByteOrder order = byte_order_of(begin);
  const bool plain =
      (order == ByteOrder::native && read_records(Cursor<false>(records, end), found)) ||
      (order == ByteOrder::swapped && read_records(Cursor<true>(records, end), found));
  if (!plain) return std::nullopt;
  return found;
}

}  // namespace culprit::trace::plain
