// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The format is that of the Linux Standard Base (.eh_frame_hdr, .eh_frame) and DWARF 5, 6.4.
// Encodings that compilers for x86-64 do not write are not decoded: a function that has them gets
// no rule.
#include "collector/callpath/frame_rules.h"

#if defined(__x86_64__)

#include <dlfcn.h>

#include <cstring>

#include "collector/callpath/own_memory.h"

namespace culprit::collector {

namespace {

/// DWARF's numbers of the registers.
constexpr uint64_t kFp = 6, kSp = 7, kReturn = 16;
constexpr unsigned kDeepest = 8;  ///< how many states DW_CFA_remember_state may stack up

/// Bounded reading of a table's bytes; reads beyond the end give zeros.
class Bytes {
 public:
  Bytes(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}
  bool done() const { return at_ >= end_; }
  bool failed() const { return failed_; }
  const unsigned char* at() const { return at_; }

  template <class T>
  T take() {
    T value = {};
    if (static_cast<size_t>(end_ - at_) < sizeof value) return fail(), value;
    memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t unsigned_number() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int64_t signed_number() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }
  Bytes part(uint64_t size) {
    if (size > static_cast<uint64_t>(end_ - at_)) fail(), size = 0;
    const Bytes found(at_, at_ + size);
    at_ += size;
    return found;
  }
  void fail() {
    failed_ = true;
    at_ = end_;
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
  bool failed_ = false;
};

/// An entry of the table: a copy of its bytes.
struct Entry {
  static constexpr size_t kLargest = 4096;
  unsigned char bytes[kLargest];
  size_t size = 0;
  uintptr_t from = 0;  ///< their address in the process

  /// Reads the entry whose length field is at `address`.
  bool read(uintptr_t address) {
    uint32_t length = 0;
    if (!copy_own_memory(address, &length, sizeof length)) return false;
    if (length == 0 || length > kLargest) return false;
    from = address + sizeof length;
    size = length;
    return copy_own_memory(from, bytes, size);
  }
  Bytes all() const { return {bytes, bytes + size}; }
  uintptr_t address_of(const Bytes& at) const {
    return from + static_cast<uintptr_t>(at.at() - bytes);
  }
};

/// Reads a pointer in those encodings that occur in these tables: absolute, or relative to its own
/// address.
bool take_pointer(uint8_t encoding, const Entry& entry, Bytes& bytes, bool is_length,
                  uintptr_t& value) {
  constexpr uint8_t kFormat = 0x0f, kRelative = 0x10, kApplication = 0x70;
  const uintptr_t here = entry.address_of(bytes);
  switch (encoding & kFormat) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = bytes.take<uint64_t>();
      break;
    case 0x03:
      value = bytes.take<uint32_t>();
      break;
    case 0x0b:
      value = static_cast<uintptr_t>(intptr_t{bytes.take<int32_t>()});
      break;
    default:
      return false;
  }
  if (is_length) return !bytes.failed();
  if ((encoding & kApplication) == kRelative)
    value += here;
  else if ((encoding & kApplication) != 0)
    return false;
  return !bytes.failed();
}

/// The facts that functions with the same beginnings share.
struct Common {
  uint64_t code_unit = 1;
  int64_t data_unit = 1;
  uint8_t pointers = 0;
  bool has_length = false;  ///< whether the length of an entry's additional data is given
  bool is_signals = false;
  Bytes program{nullptr, nullptr};
};

bool read_common(const Entry& entry, Common& common) {
  Bytes bytes = entry.all();
  if (bytes.take<uint32_t>() != 0) return false;
  const auto version = bytes.take<uint8_t>();
  if (version != 1 && version != 3) return false;
  char letters[8] = {};
  for (unsigned i = 0;; ++i) {
    if (i == sizeof letters) return false;
    letters[i] = static_cast<char>(bytes.take<uint8_t>());
    if (letters[i] == '\0') break;
  }
  common.code_unit = bytes.unsigned_number();
  common.data_unit = bytes.signed_number();
  if ((version == 1 ? bytes.take<uint8_t>() : bytes.unsigned_number()) != kReturn) return false;
  if (letters[0] == 'z') {
    Bytes added = bytes.part(bytes.unsigned_number());
    common.has_length = true;
    for (const char* letter = letters + 1; *letter != '\0'; ++letter) {
      uintptr_t handler = 0;
      if (*letter == 'R')
        common.pointers = added.take<uint8_t>();
      else if (*letter == 'L')
        added.take<uint8_t>();
      else if (*letter == 'S')
        common.is_signals = true;
      else if (*letter != 'P')
        return false;
      else if (!take_pointer(added.take<uint8_t>(), entry, added, true, handler))
        return false;
    }
  } else if (letters[0] != '\0') {
    return false;
  }
  common.program = bytes;
  return !bytes.failed();
}

/// Reads a location expression. False if it is none of the few that compilers write for frames.
bool read_expression(Bytes bytes, FrameRule::Expression& expression) {
  using Op = FrameRule::Operation;
  expression.count = 0;
  while (!bytes.done()) {
    if (expression.count == FrameRule::Expression::kMost) return false;
    auto& [operation, number] = expression.at[expression.count++];
    number = 0;
    const auto byte = bytes.take<uint8_t>();
    if (byte >= 0x30 && byte < 0x50) {
      operation = Op::number, number = byte - 0x30;
    } else if (byte >= 0x70 && byte < 0x90) {
      const uint64_t base = byte - 0x70u;
      number = bytes.signed_number();
      if (base == kSp)
        operation = Op::sp;
      else if (base == kFp)
        operation = Op::fp;
      else if (base == kReturn)
        operation = Op::pc;
      else
        return false;
    } else {
      switch (byte) {
        case 0x06:
          operation = Op::load;
          break;
        case 0x08:
          operation = Op::number, number = bytes.take<uint8_t>();
          break;
        case 0x09:
          operation = Op::number, number = bytes.take<int8_t>();
          break;
        case 0x10:
          operation = Op::number, number = static_cast<int64_t>(bytes.unsigned_number());
          break;
        case 0x11:
          operation = Op::number, number = bytes.signed_number();
          break;
        case 0x1a:
          operation = Op::both;
          break;
        case 0x22:
          operation = Op::add;
          break;
        case 0x23:
          operation = Op::plus, number = static_cast<int64_t>(bytes.unsigned_number());
          break;
        case 0x24:
          operation = Op::shift;
          break;
        case 0x2a:
          operation = Op::at_least;
          break;
        default:
          return false;
      }
    }
  }
  return !bytes.failed();
}

/// Executes the instructions that lead to one place in a function.
class Program {
 public:
  Program(const Common& common, FrameRule& rule) : common_(common), rule_(rule) {}

  /// Executes instructions, the first of which holds from code address `at` on, as far as they
  /// apply to `until`. False if one of them is not understood.
  bool run(Bytes bytes, uintptr_t at, uintptr_t until) {
    while (!bytes.done() && at <= until) {
      const auto byte = bytes.take<uint8_t>();
      const uint8_t low = byte & 0x3f;
      switch (byte & 0xc0) {
        case 0x40:
          at += low * common_.code_unit;
          continue;
        case 0x80:
          saved(low, bytes.unsigned_number());
          continue;
        case 0xc0:
          restored(low);
          continue;
        default:
          break;
      }
      if (byte >= 0x01 && byte <= 0x04) {
        if (byte == 0x01) return false;
        const uint64_t step = byte == 0x02   ? bytes.take<uint8_t>()
                              : byte == 0x03 ? bytes.take<uint16_t>()
                                             : bytes.take<uint32_t>();
        at += step * common_.code_unit;
      } else if (!execute(byte, bytes)) {
        return false;
      }
    }
    return !bytes.failed();
  }
  void end_common() { initial_ = rule_; }

 private:
  bool execute(uint8_t byte, Bytes& bytes) {
    constexpr uint8_t kNothing = 0x00, kRemember = 0x0a, kRecall = 0x0b, kByExpression = 0x0f;
    if (byte == kNothing) return true;
    if (byte == kRemember) return remember();
    if (byte == kRecall) return recall();
    if (byte == kByExpression) return by_expression(bytes.part(bytes.unsigned_number()));
    if (byte == 0x13) return defined_at(bytes.signed_number() * common_.data_unit);
    const uint64_t first = bytes.unsigned_number();
    switch (byte) {
      case 0x05:
        return saved(first, bytes.unsigned_number());
      case 0x11:
        return saved_at(first, bytes.signed_number());
      case 0x06:
        return restored(first);
      case 0x07:
        return undefined(first);
      case 0x08:
        return kept(first);
      case 0x0c:
        return defined(first, static_cast<int64_t>(bytes.unsigned_number()));
      case 0x12:
        return defined(first, bytes.signed_number() * common_.data_unit);
      case 0x0d:
        return defined(first, rule_.offset);
      case 0x0e:
        return defined_at(static_cast<int64_t>(first));
      case 0x10:
        return saved_by_expression(first, bytes.part(bytes.unsigned_number()));
      // These say what no rule of ours holds: a value in another register, a plain value, arguments
      // on the stack.
      case 0x09:
      case 0x14:
        return bytes.unsigned_number(), true;
      case 0x15:
        return bytes.signed_number(), true;
      case 0x16:
        return bytes.part(bytes.unsigned_number()), true;
      case 0x2e:
        return true;
      default:
        return false;
    }
  }

  bool saved(uint64_t what, uint64_t units) { return saved_at(what, static_cast<int64_t>(units)); }
  bool saved_at(uint64_t what, int64_t units) {
    const int64_t offset = units * common_.data_unit;
    if (what == kFp) rule_.saves_fp = true, rule_.fp_offset = offset, rule_.fp_at.count = 0;
    if (what == kReturn) rule_.return_offset = offset, rule_.return_at.count = 0;
    return true;
  }
  bool restored(uint64_t what) {
    if (what == kFp) {
      rule_.saves_fp = initial_.saves_fp;
      rule_.fp_offset = initial_.fp_offset;
      rule_.fp_at = initial_.fp_at;
    }
    if (what == kReturn) rule_.return_offset = initial_.return_offset;
    return true;
  }
  bool undefined(uint64_t what) {
    if (what == kReturn) rule_.ends = true;
    return true;
  }
  bool kept(uint64_t what) {
    if (what == kFp) rule_.saves_fp = false;
    return true;
  }
  bool remember() {
    if (depth_ == kDeepest) return false;
    remembered_[depth_++] = rule_;
    return true;
  }
  bool recall() {
    if (depth_ == 0) return false;
    rule_ = remembered_[--depth_];
    return true;
  }
  bool defined(uint64_t base, int64_t offset) {
    rule_.base = base == kSp   ? FrameRule::Base::sp
                 : base == kFp ? FrameRule::Base::fp
                               : FrameRule::Base::none;
    rule_.offset = offset;
    return true;
  }
  bool defined_at(int64_t offset) {
    rule_.offset = offset;
    return true;
  }
  bool by_expression(Bytes bytes) {
    rule_.base = FrameRule::Base::expression;
    if (!read_expression(bytes, rule_.cfa)) rule_.base = FrameRule::Base::none;
    return true;
  }
  bool saved_by_expression(uint64_t what, Bytes bytes) {
    if (what == kFp) return read_expression(bytes, rule_.fp_at);
    if (what == kReturn) return read_expression(bytes, rule_.return_at);
    return true;
  }

  const Common& common_;
  FrameRule& rule_;
  FrameRule initial_;
  FrameRule remembered_[kDeepest];
  unsigned depth_ = 0;
};

using FindObject = int (*)(void*, dl_find_object*);

/// Address of the entry for the function at `pc`, found in the sorted table; 0 if there is none.
uintptr_t find_entry(uintptr_t pc) {
  static const auto find = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  dl_find_object object = {};
  if (find == nullptr || find(reinterpret_cast<void*>(pc), &object) != 0) return 0;
  const auto table = reinterpret_cast<uintptr_t>(object.dlfo_eh_frame);
  struct {
    uint8_t version, frames, counts, entries;
    int32_t begin;
    uint32_t count;
  } head;
  if (table == 0 || !copy_own_memory(table, &head, sizeof head)) return 0;
  constexpr uint8_t kPlainCount = 0x03, kFromTable = 0x3b, kFrom = 0x1b;
  if (head.version != 1 || head.frames != kFrom || head.counts != kPlainCount ||
      head.entries != kFromTable) {
    return 0;
  }
  struct Row {
    int32_t function, entry;
  };
  constexpr uint32_t kFew = 128;
  uint32_t first = 0, count = head.count;
  const uintptr_t rows = table + sizeof head;
  const auto begins_at = [table](const Row& row) {
    return table + static_cast<uintptr_t>(intptr_t{row.function});
  };
  while (count > kFew) {
    Row row;
    if (!copy_own_memory(rows + (uintptr_t{first} + count / 2) * sizeof row, &row, sizeof row)) {
      return 0;
    }
    if (begins_at(row) <= pc) {
      first += count / 2;
      count -= count / 2;
    } else {
      count /= 2;
    }
  }
  Row last[kFew];
  if (count == 0 ||
      !copy_own_memory(rows + uintptr_t{first} * sizeof(Row), last, count * sizeof(Row))) {
    return 0;
  }
  while (count > 0 && begins_at(last[count - 1]) > pc) --count;
  return count > 0 ? table + static_cast<uintptr_t>(intptr_t{last[count - 1].entry}) : 0;
}

bool read_rule(uintptr_t pc, FrameRule& rule) {
  static Entry entry, common_entry;  // too large for the stacks of helpers
  const uintptr_t at = find_entry(pc);
  if (at == 0 || !entry.read(at)) return false;
  Bytes bytes = entry.all();
  const auto distance = bytes.take<uint32_t>();
  Common common;
  if (distance == 0 || !common_entry.read(entry.from - distance)) return false;
  if (!read_common(common_entry, common)) return false;
  uintptr_t begin = 0, length = 0;
  if (!take_pointer(common.pointers, entry, bytes, false, begin)) return false;
  if (!take_pointer(common.pointers, entry, bytes, true, length)) return false;
  if (pc < begin || pc - begin >= length) return false;
  if (common.has_length) bytes.part(bytes.unsigned_number());
  rule = {};
  rule.function = begin;
  rule.is_signals = common.is_signals;
  Program program(common, rule);
  if (!program.run(common.program, begin, begin)) return false;
  program.end_common();
  return program.run(bytes, begin, pc);
}

struct Known {
  uintptr_t pc = 0;
  bool has_rule = false;
  FrameRule rule;
};
constexpr unsigned kKnown = 128;

}  // namespace

const FrameRule* frame_rule(uintptr_t pc) {
  static Known all[kKnown];
  Known& known = all[pc * 0x9e3779b97f4a7c15u >> 57];
  if (known.pc != pc) {
    known.has_rule = read_rule(pc, known.rule);
    known.pc = pc;
  }
  return known.has_rule ? &known.rule : nullptr;
}

}  // namespace culprit::collector

#endif
