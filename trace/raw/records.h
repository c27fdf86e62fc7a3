// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The raw records as structs, one for each kind, named as the kind is: raw::mpi_send. Probes fill
// them in (ThreadLog::put), the assembler reads them (assemble/raw/reader.h); how fields lie in the
// file is known here alone. All of it follows from records.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "trace/collective_op.h"
#include "trace/device.h"
#include "trace/file_io.h"
#include "trace/raw/raw.h"
#include "trace/rma.h"

namespace culprit::trace::raw {

#define RECORD(kind, number, group, kept, meaning) \
  struct kind {                                    \
    static constexpr RawKind kKind = RawKind::kind;
#define ARG(type, name, meaning) type name = {};
#define FLAGS(type, name, meaning) type name = {};
#define WORD(type, name, meaning) type name = {};
#define LOW(type, name, meaning) type name = {};
#define HIGH(type, name, meaning) type name = {};
#define MAYBE(type, name, meaning) type name = {};
#define NOTED_LOW(name, kind, meaning) uint32_t name = 0;
#define NOTED_HIGH(name, kind, meaning) uint32_t name = 0;
#define END \
  }         \
  ;
#include "trace/raw/records.def"

// visit_fields(record, visit) calls visit.arg(field), .flags, .word, .low, .high, .maybe for each.
#define RECORD(kind, number, group, kept, meaning) \
  template <class Visit>                           \
  constexpr void visit_fields([[maybe_unused]] kind& record, [[maybe_unused]] Visit& visit) {
#define ARG(type, name, meaning) visit.arg(record.name);
#define FLAGS(type, name, meaning) visit.flags(record.name);
#define WORD(type, name, meaning) visit.word(record.name);
#define LOW(type, name, meaning) visit.low(record.name);
#define HIGH(type, name, meaning) visit.high(record.name);
#define MAYBE(type, name, meaning) visit.maybe(record.name);
#define NOTED_LOW(name, kind, meaning) visit.low(record.name);
#define NOTED_HIGH(name, kind, meaning) visit.high(record.name);
#define END }
#include "trace/raw/records.def"

/// A record's fields in the file's layout; optional trailing words are left out.
template <class Record>
struct Packed {
  static constexpr size_t kMostWords = sizeof(Record) / sizeof(uint64_t) + 2;
  uint32_t argument = 0;
  uint16_t flag_bits = 0;
  unsigned count = 0;
  uint64_t words[kMostWords] = {};

  constexpr explicit Packed(Record record) {
    visit_fields(record, *this);
    count = needed_;
  }
  template <class T>
  constexpr void arg(T value) {
    argument = static_cast<uint32_t>(value);
  }
  template <class T>
  constexpr void flags(T value) {
    flag_bits = static_cast<uint16_t>(value);
  }
  template <class T>
  constexpr void word(T value) {
    words[next_++] = static_cast<uint64_t>(value);
    needed_ = next_;
  }
  template <class T>
  constexpr void low(T value) {
    word(static_cast<uint32_t>(value));
  }
  template <class T>
  constexpr void high(T value) {
    words[next_ - 1] |= uint64_t{static_cast<uint32_t>(value)} << 32;
  }
  template <class T>
  constexpr void maybe(T value) {
    words[next_++] = static_cast<uint64_t>(value);
    if (static_cast<uint64_t>(value) != 0) needed_ = next_;
  }

 private:
  unsigned next_ = 0;
  unsigned needed_ = 0;
};

/// As a field: a value beyond its enumeration becomes the greatest that the field can hold, and so
/// does not seem to be a value that has a name.
template <class T, class Bits>
constexpr T fitting(Bits bits) {
  if constexpr (std::is_enum_v<T> && sizeof(T) < sizeof(Bits)) {
    constexpr auto kGreatest = std::numeric_limits<std::underlying_type_t<T>>::max();
    return static_cast<T>(bits < Bits{kGreatest} ? bits : Bits{kGreatest});
  } else {
    return static_cast<T>(bits);
  }
}

/// Fills in a record from the file's layout; missing words are 0.
class Unpacker {
 public:
  constexpr Unpacker(uint32_t argument, uint16_t flag_bits, const uint64_t* words, unsigned count)
      : argument_(argument), flag_bits_(flag_bits), words_(words), count_(count) {}
  template <class T>
  constexpr void arg(T& field) {
    field = fitting<T>(argument_);
  }
  template <class T>
  constexpr void flags(T& field) {
    field = fitting<T>(flag_bits_);
  }
  template <class T>
  constexpr void word(T& field) {
    last_ = next_ < count_ ? words_[next_] : 0;
    ++next_;
    field = fitting<T>(last_);
  }
  template <class T>
  constexpr void low(T& field) {
    uint64_t both = 0;
    word(both);
    field = static_cast<T>(static_cast<uint32_t>(both));
  }
  template <class T>
  constexpr void high(T& field) {
    field = static_cast<T>(static_cast<uint32_t>(last_ >> 32));
  }
  template <class T>
  constexpr void maybe(T& field) {
    word(field);
  }

 private:
  uint32_t argument_;
  uint16_t flag_bits_;
  const uint64_t* words_;
  unsigned count_;
  unsigned next_ = 0;
  uint64_t last_ = 0;
};

/// Kinds that begin with the same fields may be read as each other's.
template <class Record>
constexpr Record unpack(uint32_t argument, uint16_t flag_bits, const uint64_t* words,
                        unsigned count) {
  Record record;
  Unpacker unpacker(argument, flag_bits, words, count);
  visit_fields(record, unpacker);
  return record;
}

/// The place of a field of 64 bits, or 32: half `half` (0: the lower) of word `word`.
struct Place {
  unsigned word = 0;
  unsigned half = 0;
};

/// Walks over a record's fields as they lie in the file, and finds one of them.
struct Finder {
  const void* wanted = nullptr;
  unsigned words = 0;  ///< so far
  Place place = {};
  template <class T>
  constexpr void arg(T&) {}
  template <class T>
  constexpr void flags(T&) {}
  template <class T>
  constexpr void word(T& field) {
    see(field, words++, 0);
  }
  template <class T>
  constexpr void low(T& field) {
    word(field);
  }
  template <class T>
  constexpr void high(T& field) {
    see(field, words - 1, 1);
  }
  template <class T>
  constexpr void maybe(T& field) {
    word(field);
  }

 private:
  template <class T>
  constexpr void see(T& field, unsigned word, unsigned half) {
    if (static_cast<const void*>(&field) == wanted) place = {word, half};
  }
};

/// How many words a kind's fields take, all of them: what follows is its rest.
template <class Record>
constexpr unsigned words_of_fields() {
  Record record;
  Finder finder;
  visit_fields(record, finder);
  return finder.words;
}

template <class Record, class Field>
constexpr Place place_of(Field Record::* field) {
  Record record;
  Finder finder{&(record.*field)};
  visit_fields(record, finder);
  return finder.place;
}

}  // namespace culprit::trace::raw

namespace culprit::trace {

/// For mpi_tests: words without other functions, and the largest number of those.
inline constexpr unsigned kRawTestsWords = raw::words_of_fields<raw::mpi_tests>();
inline constexpr unsigned kRawOtherTests = 3;

}  // namespace culprit::trace
