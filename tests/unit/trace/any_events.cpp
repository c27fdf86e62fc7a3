// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Events are written by OTF2 itself, into an archive of their own; its files then take the place of
// those in an archive that defines what they refer to. The other byte order is a matter of turning
// numbers round where they are, since they take as many bytes.
#include "any_events.h"

#include <gtest/gtest.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

#include "otf2_fixture.h"

// The old records are deprecated for writers; readers still meet them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace culprit::trace {

namespace {

namespace fs = std::filesystem;

constexpr size_t kChunk = 256 << 10;  // that of archives which culprit writes

constexpr size_t kAttributes = 24;  // culprit's own, and some that no archive defines

/// Often a small one, which an archive may define.
template <class Number>
Number any_number(Random& random) {
  switch (random() % 8) {
    case 0:
      return static_cast<Number>(random() % 300);
    case 1:
      return static_cast<Number>(random() >> (random() % 64));
    case 2:
      return static_cast<Number>(-1);
    default:
      return static_cast<Number>(random() % 5);
  }
}

template <class... Fields>
void write_any(OTF2_ErrorCode (*write)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp,
                                       Fields...),
               OTF2_EvtWriter* writer, OTF2_AttributeList* list, OTF2_TimeStamp time,
               Random& random) {
  ASSERT_EQ(write(writer, list, time, any_number<Fields>(random)...), OTF2_SUCCESS);
}

void write_any(OTF2_ErrorCode (*write)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp,
                                       OTF2_MetricRef, uint8_t, const OTF2_Type*,
                                       const OTF2_MetricValue*),
               OTF2_EvtWriter* writer, OTF2_AttributeList* list, OTF2_TimeStamp time,
               Random& random) {
  OTF2_Type types[UINT8_MAX];
  OTF2_MetricValue values[UINT8_MAX];
  const auto count = static_cast<uint8_t>(random() % 16 == 0 ? random() : 1 + random() % 2);
  for (uint8_t i = 0; i < count; ++i) {
    constexpr OTF2_Type kTypes[] = {OTF2_TYPE_UINT64, OTF2_TYPE_INT64, OTF2_TYPE_DOUBLE};
    types[i] = kTypes[random() % 3];
    values[i].unsigned_int = any_number<uint64_t>(random);
    if (types[i] == OTF2_TYPE_DOUBLE) values[i].floating_point = 0.25 * double(random() % 1000);
  }
  ASSERT_EQ(write(writer, list, time, random() % 3, count, types, values), OTF2_SUCCESS);
}

void write_any(OTF2_ErrorCode (*write)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp,
                                       OTF2_StringRef, uint32_t, const OTF2_StringRef*),
               OTF2_EvtWriter* writer, OTF2_AttributeList* list, OTF2_TimeStamp time,
               Random& random) {
  std::vector<OTF2_StringRef> arguments(1 + random() % 100);
  for (auto& argument : arguments) argument = any_number<uint32_t>(random);
  ASSERT_EQ(write(writer, list, time, 1, static_cast<uint32_t>(arguments.size()), arguments.data()),
            OTF2_SUCCESS);
}

using WriteAny = std::function<void(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Random&)>;
std::vector<WriteAny> every_kind() {
  std::vector<WriteAny> kinds;
#define RECORD(id, name, ...) \
  kinds.emplace_back([](auto... given) { write_any(OTF2_EvtWriter_##name, given...); });
#define OTHER(id, name, ...) RECORD(id, name)
#include "trace/otf2/records/records.def"
  return kinds;
}

/// Mostly with the types that culprit's attributes have.
void add_any_attributes(OTF2_AttributeList* list, Random& random) {
  constexpr OTF2_Type kUsual[] = {OTF2_TYPE_UINT8, OTF2_TYPE_UINT32, OTF2_TYPE_UINT64,
                                  OTF2_TYPE_GROUP, OTF2_TYPE_COMM};
  for (size_t count = 1 + random() % 6; count > 0; --count) {
    const auto ref = static_cast<OTF2_AttributeRef>(random() % kAttributes);
    const auto type =
        static_cast<OTF2_Type>(random() % 4 != 0 ? kUsual[random() % 5] : 1 + random() % 25);
    OTF2_AttributeValue value{};
    value.uint64 = any_number<uint64_t>(random);
    OTF2_AttributeList_AddAttribute(list, ref, type, value);  // not if there is one
  }
}

void write_events(OTF2_EvtWriter* writer, size_t records, Random& random) {
  const std::vector<WriteAny> kinds = every_kind();
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  OTF2_TimeStamp time = 1000;
  for (size_t i = 0; i < records; ++i) {
    if (random() % 3 != 0) time += random() % 50;
    if (random() % 4 == 0) add_any_attributes(list, random);
    // First each kind once; then calls, with any other kind in them.
    if (i < kinds.size() || random() % 2 == 0) {
      kinds[i < kinds.size() ? i : random() % kinds.size()](writer, list, time, random);
      continue;
    }
    const auto region = static_cast<OTF2_RegionRef>(random() % 8);
    OTF2_EvtWriter_Enter(writer, list, time, region);
    kinds[random() % kinds.size()](writer, nullptr, time + 1, random);
    OTF2_EvtWriter_Leave(writer, nullptr, time += 2, region);
  }
  OTF2_AttributeList_Delete(list);
}

template <class Field>
Field any_field(Random& random) {
  if constexpr (std::is_same_v<Field, OTF2_AttributeValue>) {
    OTF2_AttributeValue value{};
    value.uint64 = any_number<uint64_t>(random);
    return value;
  } else {
    return any_number<Field>(random);
  }
}

template <class... Fields>
void define_any(OTF2_ErrorCode (*define)(OTF2_DefWriter*, Fields...), OTF2_DefWriter* writer,
                Random& random) {
  EXPECT_EQ(define(writer, any_field<Fields>(random)...), OTF2_SUCCESS);
}

/// Definitions of each kind that say nothing about events; measurements leave many of them.
void write_other_definitions(OTF2_DefWriter* w, Random& random) {
  constexpr uint64_t kMembers[] = {1, uint64_t{1} << 40, 3};
  constexpr uint32_t kRefs[] = {7, UINT32_MAX, 0};
  OTF2_DefWriter_WriteString(w, 3, "text");
  OTF2_DefWriter_WriteString(w, 4, "");
  OTF2_DefWriter_WriteString(w, 5, std::string(300, 'x').c_str());
  OTF2_DefWriter_WriteGroup(w, 1, 2, OTF2_GROUP_TYPE_LOCATIONS, OTF2_PARADIGM_MPI, 0, 3, kMembers);
  OTF2_DefWriter_WriteMetricClass(w, 1, 3, kRefs, OTF2_METRIC_SYNCHRONOUS_STRICT,
                                  OTF2_RECORDER_KIND_CPU);
  OTF2_DefWriter_WriteCartTopology(w, 1, 2, 3, 3, kRefs);
  OTF2_DefWriter_WriteCartCoordinate(w, 1, 2, 3, kRefs);
  define_any(OTF2_DefWriter_WriteAttribute, w, random);
  define_any(OTF2_DefWriter_WriteSystemTreeNode, w, random);
  define_any(OTF2_DefWriter_WriteLocationGroup, w, random);
  define_any(OTF2_DefWriter_WriteLocation, w, random);
  define_any(OTF2_DefWriter_WriteRegion, w, random);
  define_any(OTF2_DefWriter_WriteCallsite, w, random);
  define_any(OTF2_DefWriter_WriteCallpath, w, random);
  define_any(OTF2_DefWriter_WriteMetricMember, w, random);
  define_any(OTF2_DefWriter_WriteMetricInstance, w, random);
  define_any(OTF2_DefWriter_WriteComm, w, random);
  define_any(OTF2_DefWriter_WriteParameter, w, random);
  define_any(OTF2_DefWriter_WriteRmaWin, w, random);
  define_any(OTF2_DefWriter_WriteMetricClassRecorder, w, random);
  define_any(OTF2_DefWriter_WriteSystemTreeNodeProperty, w, random);
  define_any(OTF2_DefWriter_WriteSystemTreeNodeDomain, w, random);
  define_any(OTF2_DefWriter_WriteLocationGroupProperty, w, random);
  define_any(OTF2_DefWriter_WriteLocationProperty, w, random);
  define_any(OTF2_DefWriter_WriteCartDimension, w, random);
  define_any(OTF2_DefWriter_WriteSourceCodeLocation, w, random);
  define_any(OTF2_DefWriter_WriteCallingContext, w, random);
  define_any(OTF2_DefWriter_WriteCallingContextProperty, w, random);
  define_any(OTF2_DefWriter_WriteInterruptGenerator, w, random);
  define_any(OTF2_DefWriter_WriteIoFileProperty, w, random);
  define_any(OTF2_DefWriter_WriteIoRegularFile, w, random);
  define_any(OTF2_DefWriter_WriteIoDirectory, w, random);
  define_any(OTF2_DefWriter_WriteIoHandle, w, random);
  define_any(OTF2_DefWriter_WriteIoPreCreatedHandleState, w, random);
  define_any(OTF2_DefWriter_WriteCallpathParameter, w, random);
  define_any(OTF2_DefWriter_WriteInterComm, w, random);
}

void write_local_definitions(OTF2_DefWriter* writer, Random& random) {
  for (OTF2_MappingType kind = 0; kind < OTF2_MAPPING_MAX; ++kind) {
    if (random() % 4 == 0) continue;
    OTF2_IdMap* map = nullptr;
    if (kind == OTF2_MAPPING_ATTRIBUTE) {  // an event may have each but once
      std::vector<uint64_t> turned(kAttributes);
      for (size_t i = 0; i < kAttributes; ++i) turned[i] = (i + 5) % kAttributes;
      map = OTF2_IdMap_CreateFromUint64Array(turned.size(), turned.data(), false);
    } else if (random() % 2 == 0) {
      std::vector<uint64_t> dense(1 + random() % 8);
      for (auto& global : dense) global = any_number<uint64_t>(random);
      map = OTF2_IdMap_CreateFromUint64Array(dense.size(), dense.data(), false);
    } else {
      map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 8);
      for (int i = 0; i < 8; ++i) {
        OTF2_IdMap_AddIdPair(map, any_number<uint32_t>(random), random() % 8);
      }
    }
    EXPECT_EQ(OTF2_DefWriter_WriteMappingTable(writer, kind, map), OTF2_SUCCESS);
    OTF2_IdMap_Free(map);
  }
  uint64_t time = random() % 2000;
  for (size_t offsets = random() % 5; offsets > 0; --offsets) {
    OTF2_DefWriter_WriteClockOffset(writer, time, static_cast<int64_t>(random() % 4000) - 1000, 0);
    time += 1 + random() % 20000;
  }
}

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

/// Numbers of a file, one after the other.
class Swapper {
 public:
  explicit Swapper(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string done() { return std::move(bytes_); }

  /// False at the end of the file.
  bool header() {
    if (at_ >= bytes_.size()) return false;
    bytes_[at_ + 1] = 0x23;
    at_ += 2;
    raw(8);
    raw(8);
    return true;
  }
  uint8_t byte() { return static_cast<uint8_t>(bytes_[at_++]); }
  void raw(size_t size) {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
    std::reverse(begin, begin + static_cast<std::ptrdiff_t>(size));
    at_ += size;
  }
  /// What it is.
  uint64_t packed() {
    const uint8_t size = byte();
    if (size == 0xff) return UINT64_MAX;
    uint64_t value = 0;
    for (uint8_t i = 0; i < size; ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << (8 * i);
    }
    raw(size);
    return value;
  }
  void length() {
    if (byte() == 0xff) raw(8);
  }
  void next_chunk() { at_ = (at_ + kChunk - 1) / kChunk * kChunk; }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

struct Byte {
  static void swap(Swapper& in) { in.byte(); }
};
struct Packed {
  static void swap(Swapper& in) { in.packed(); }
};
struct Ticks {
  static void swap(Swapper& in) { in.raw(8); }
};
struct MetricValues {
  static void swap(Swapper& in) {
    for (uint8_t count = in.byte(); count > 0; --count) {
      in.byte();
      in.packed();
    }
  }
};
struct Strings {
  static void swap(Swapper& in) {
    for (uint64_t count = in.packed(); count > 0; --count) in.packed();
  }
};
using U8 = Byte;
using U32 = Packed;
using U64 = Packed;
using I64 = Packed;
using String = Packed;
using Region = Packed;
using Group = Packed;
using Metric = Packed;
using Comm = Packed;
using Parameter = Packed;
using Window = Packed;
using CallingContext = Packed;
using InterruptGenerator = Packed;
using IoFile = Packed;
using IoHandle = Packed;

template <class... Fields>
void swap_fields(Swapper& in) {
  (Fields::swap(in), ...);
}

void swap_attributes(Swapper& in) {
  in.length();
  for (uint64_t count = in.packed(); count > 0; --count) {
    in.packed();
    switch (in.byte()) {
      case OTF2_TYPE_UINT8:
      case OTF2_TYPE_INT8:
        in.byte();
        break;
      case OTF2_TYPE_UINT16:
      case OTF2_TYPE_INT16:
        in.raw(2);
        break;
      case OTF2_TYPE_FLOAT:
        in.raw(4);
        break;
      case OTF2_TYPE_DOUBLE:
        in.raw(8);
        break;
      default:
        in.packed();
    }
  }
}

enum class Length { announced, implied };

/// False at the end of a chunk, or of the file.
bool swap_record(Swapper& in, bool& ended) {
  const uint8_t id = in.byte();
  switch (id) {
    case 2:
      ended = true;
      return false;
    case 0:
      return false;
    case 5:
      in.raw(8);
      return true;
    case 6:
      swap_attributes(in);
      return true;
#define LIST(...) __VA_ARGS__
#define RECORD(id, name, how, handler, fields)         \
  case id:                                             \
    if (Length::how == Length::announced) in.length(); \
    swap_fields<LIST fields>(in);                      \
    return true;
#define OTHER(id, name, how, fields) RECORD(id, name, how, none, fields)
#include "trace/otf2/records/records.def"
    default:
      ADD_FAILURE() << "a record of kind " << int{id};
      ended = true;
      return false;
  }
}

}  // namespace

fs::path write_any_events(const fs::path& folder, size_t records, References references,
                          Random& random) {
  const fs::path anchor = write_rich_archive(folder);
  TemporaryFolder other;
  OTF2_Archive* archive =
      OTF2_Archive_Open((other.path() / "any").c_str(), "traces", OTF2_FILEMODE_WRITE, kChunk,
                        4 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  static constexpr OTF2_FlushCallbacks kFlush{flush, nullptr};
  OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  OTF2_Archive_OpenEvtFiles(archive);
  OTF2_EvtWriter* events = OTF2_Archive_GetEvtWriter(archive, 0);
  write_events(events, records, random);
  OTF2_Archive_CloseEvtWriter(archive, events);
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_OpenDefFiles(archive);
  OTF2_DefWriter* local = OTF2_Archive_GetDefWriter(archive, 0);
  if (references == References::among_others) write_other_definitions(local, random);
  if (references != References::global) write_local_definitions(local, random);
  if (references == References::among_others) write_other_definitions(local, random);
  OTF2_Archive_CloseDefWriter(archive, local);
  OTF2_Archive_CloseDefFiles(archive);
  OTF2_Archive_Close(archive);
  for (const char* file : {"0.evt", "0.def"}) {
    fs::copy_file(other.path() / "any" / "traces" / file, folder / "traces" / file,
                  fs::copy_options::overwrite_existing);
  }
  return anchor;
}

std::string swapped_events(std::string file) {
  Swapper in(std::move(file));
  for (bool ended = false; !ended && in.header(); in.next_chunk()) {
    while (swap_record(in, ended)) {
    }
  }
  return in.done();
}

std::string swapped_definitions(std::string file) {
  Swapper in(std::move(file));
  in.header();
  for (uint8_t kind = in.byte(); kind != 2; kind = in.byte()) {
    in.length();
    if (kind == 5) {
      in.byte();
      const uint64_t size = in.packed();
      const bool sparse = in.byte() == OTF2_ID_MAP_SPARSE;
      for (uint64_t i = 0; i < (sparse ? 2 * size : size); ++i) in.packed();
    } else if (kind == 6) {
      in.raw(8);
      in.packed();
      in.raw(8);
    } else {
      ADD_FAILURE() << "a definition of kind " << int{kind};
      break;
    }
  }
  return in.done();
}

}  // namespace culprit::trace
