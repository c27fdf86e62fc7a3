// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One switch over records.def. A record is a time, if that has gone on; attributes, if it has some;
// the byte of its kind; its length, unless its only field tells it; its fields. Files of later
// versions may append fields: a record always ends where it says. As in OTF2's own reader, fields
// are not held against that length; nothing is read from beyond the chunk.
#include "trace/otf2/plain/events.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "trace/otf2/plain/attribute_value.h"
#include "trace/otf2/plain/cursor.h"
#include "trace/otf2/plain/fields.h"
#include "trace/otf2/records/handle.h"
#include "trace/otf2/records/handle_one_sided.h"

namespace culprit::trace::plain {

namespace {

constexpr uint8_t kTimestamp = 5;
constexpr uint8_t kAttributes = 6;

enum class Length { announced, implied };
enum class End { chunk, file, damage };

class RecordReader {
 public:
  RecordReader(const LocalDefinitions& local, EventDecoder& decoder)
      : local_(local), decoder_(decoder), clock_(local.clock) {}

  /// The bytes, at least those of its header, are followed by kSlack others.
  End chunk(const uint8_t* bytes, size_t size) {
    switch (byte_order_of(bytes)) {
      case ByteOrder::native:
        return records(Cursor<false>(bytes + kHeaderBytes, bytes + size));
      case ByteOrder::swapped:
        return records(Cursor<true>(bytes + kHeaderBytes, bytes + size));
      case ByteOrder::unknown:
        break;
    }
    return End::damage;
  }
  uint64_t count() const { return count_; }

 private:
  template <bool kSwapped>
  End records(Cursor<kSwapped> begin);
  template <auto kHandle, Length kLength, class... Stored, class In>
  bool deliver(In& in);
  template <class In>
  bool attributes(In& in);

  const LocalDefinitions& local_;
  EventDecoder& decoder_;
  LocalClock clock_;
  OTF2_TimeStamp ticks_ = 0;
  Attributes attributes_;
  MetricRoom metrics_;
  uint64_t count_ = 0;
};

/// False if the record is damaged. Inlined, so that the place in the chunk stays in a register.
template <auto kHandle, Length kLength, class... Stored, class In>
[[gnu::always_inline]] inline bool RecordReader::deliver(In& in) {
  static_assert(sizeof...(Stored) + 3 <= kMostFields);
  const uint8_t* next = nullptr;
  if constexpr (kLength == Length::announced) {
    next = in.end_of_record();
    if (!next) return false;
  }
  const OTF2_TimeStamp at = clock_.corrected(ticks_);
  const std::tuple<decltype(Stored::read(in))...> fields{Stored::read(in)...};
  if (!in.ok()) return false;
  if (next) in.go_to(next);
  std::apply([&](const auto&... values) { kHandle(decoder_, at, attributes_, values...); }, fields);
  ++count_;
  if (!attributes_.empty()) attributes_.clear();
  return true;
}

/// Attributes of the record that follows. Of references, only those to groups and communicators are
/// asked for.
template <class In>
bool RecordReader::attributes(In& in) {
  constexpr uint32_t kMost = 1024;  // no event has as many
  constexpr uint64_t kLargest = 15;
  const uint8_t* const next = in.end_of_record();
  if (!next) return false;
  const uint64_t bytes = static_cast<uint64_t>(next - in.place());
  const uint32_t count = in.packed32();
  if (!in.ok() || count > kMost || bytes > count * kLargest + 5) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const auto ref = local_.global<OTF2_AttributeRef>(OTF2_MAPPING_ATTRIBUTE, in.packed32());
    const OTF2_Type type = in.byte();
    uint64_t value = read_value(in, type);
    if (type == OTF2_TYPE_GROUP) value = local_.global(OTF2_MAPPING_GROUP, value);
    if (type == OTF2_TYPE_COMM) value = local_.global(OTF2_MAPPING_COMM, value);
    if (!in.ok() || !attributes_.add(ref, type, value)) return false;
  }
  in.go_to(next);
  return true;
}

template <bool kSwapped>
End RecordReader::records(Cursor<kSwapped> begin) {
  using namespace field;
  Fields<kSwapped> in(begin, local_, clock_, metrics_);
  while (in.ok() && !in.at_end()) {
    if (in.next_byte() == kTimestamp) {
      in.byte();
      ticks_ = in.template raw<uint64_t>();
      if (!in.ok() || in.at_end()) return End::damage;
    }
    const uint8_t id = in.byte();
    bool sound = true;
    switch (id) {
      case kEndOfChunk:
        return End::chunk;
      case kEndOfFile:
        return End::file;
      case kAttributes:
        sound = attributes(in);
        break;
#define CULPRIT_FIELDS(...) __VA_OPT__(, ) __VA_ARGS__
#define RECORD(id, name, length, handler, fields)                       \
  case id:                                                              \
    sound = deliver<handler, Length::length CULPRIT_FIELDS fields>(in); \
    break;
#include "trace/otf2/records/records.def"
#undef CULPRIT_FIELDS
      default:
        sound = deliver<Other<"Unknown">{}, Length::announced>(in);
    }
    if (!sound) return End::damage;
  }
  return End::damage;
}

}  // namespace

uint8_t* ChunkRoom::of(size_t bytes) {
  if (bytes > size_) {
    bytes_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
    size_ = bytes;
  }
  return bytes_.get();
}

bool begins_with_chunk(const RegularFile& file) {
  uint8_t header[kHeaderBytes];
  return file.read_at(0, header, sizeof header) == sizeof header &&
         byte_order_of(header) != ByteOrder::unknown;
}

EventsRead read_events(const RegularFile& file, uint64_t chunk_bytes, const LocalDefinitions& local,
                       EventDecoder& decoder, ChunkRoom& room) {
  RecordReader reader(local, decoder);
  End end = End::chunk;
  for (uint64_t offset = 0; end == End::chunk; offset += chunk_bytes) {
    const uint64_t wanted = offset < file.size() ? std::min(chunk_bytes, file.size() - offset) : 0;
    uint8_t* const bytes = room.of(wanted + kSlack);
    const size_t got = file.read_at(offset, bytes, wanted);
    std::memset(bytes + got, 0, kSlack);
    end = got < kHeaderBytes ? End::damage : reader.chunk(bytes, got);
  }
  return {reader.count(), end == End::damage};
}

}  // namespace culprit::trace::plain
