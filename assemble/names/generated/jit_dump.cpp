// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A header, then records in order of time; each says how long it is. Lines of a function come
// before the function itself. Written by another program: no number is believed before it is in
// range.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "assemble/names/generated/generated_code.h"
#include "base/files/regular_file.h"

namespace culprit::assemble {
namespace {

constexpr uint64_t kLargestDump = uint64_t{1} << 30;
constexpr size_t kLongestName = 1000;

constexpr uint32_t kMagic = 0x4a695444;  // "JiTD", in this machine's order
constexpr size_t kHeaderSizeAt = 8, kRecordHead = 16;
enum Kind : uint32_t { load = 0, move = 1, debug_info = 2 };

/// The rest of a record.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  template <class Number>
  Number number() {
    Number value = 0;
    if (rest_.size() < sizeof value) return rest_ = {}, Number{0};
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view text() {
    const size_t end = std::min(rest_.find('\0'), rest_.size());
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return text;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

class Dump {
 public:
  explicit Dump(GeneratedFunctions& functions) : functions_(functions) {}

  void read(std::string_view bytes) {
    Fields header(bytes);
    if (header.number<uint32_t>() != kMagic || bytes.size() < kRecordHead) return;
    Fields size(bytes.substr(kHeaderSizeAt));
    bytes.remove_prefix(std::min<size_t>(size.number<uint32_t>(), bytes.size()));
    while (bytes.size() >= kRecordHead) {
      Fields head(bytes);
      const auto kind = head.number<uint32_t>();
      const size_t length = head.number<uint32_t>();
      if (length < kRecordHead || length > bytes.size()) return;
      take(kind, Fields(bytes.substr(kRecordHead, length - kRecordHead)));
      bytes.remove_prefix(length);
    }
  }

 private:
  void take(uint32_t kind, Fields fields) {
    if (kind == debug_info) take_lines(fields);
    if (kind == load) take_function(fields);
    if (kind == move) move_function(fields);
  }

  void take_lines(Fields fields) {
    const auto begin = fields.number<uint64_t>();
    GeneratedFunction& of = lines_[begin];
    of = {};
    for (auto count = fields.number<uint64_t>(); count > 0 && !fields.at_end(); --count) {
      const auto address = fields.number<uint64_t>();
      const auto line = fields.number<uint32_t>();
      fields.number<uint32_t>();  // which of the blocks on that line
      const std::string_view file = fields.text();
      if (of.file.empty() && file != "\xff") of.file = base_name(file.substr(0, kLongestName));
      of.lines.try_emplace(address, line);
    }
  }

  void take_function(Fields fields) {
    fields.number<uint32_t>();  // process
    fields.number<uint32_t>();  // thread
    fields.number<uint64_t>();  // where it was made, which is where it lies
    const auto begin = fields.number<uint64_t>();
    const auto size = fields.number<uint64_t>();
    fields.number<uint64_t>();  // its number
    const std::string_view name = fields.text();
    if (name.empty() || size > UINT64_MAX - begin) return;
    GeneratedFunction function;
    if (auto lines = lines_.extract(begin)) function = std::move(lines.mapped());
    function.end = begin + size;
    function.name = name.substr(0, kLongestName);
    functions_[begin] = std::move(function);
  }

  void move_function(Fields fields) {
    fields.number<uint32_t>();
    fields.number<uint32_t>();
    fields.number<uint64_t>();
    const auto from = fields.number<uint64_t>(), to = fields.number<uint64_t>();
    const auto size = fields.number<uint64_t>();
    const auto known = functions_.find(from);
    if (known == functions_.end() || size > UINT64_MAX - to) return;
    GeneratedFunction function = known->second;  // samples of before are there
    function.end = to + size;
    std::map<uint64_t, uint32_t> lines;
    for (const auto& [address, line] : function.lines) lines[address - from + to] = line;
    function.lines = std::move(lines);
    functions_[to] = std::move(function);
  }

  GeneratedFunctions& functions_;
  std::map<uint64_t, GeneratedFunction> lines_;  ///< of functions to come
};

}  // namespace

void read_jit_dump(const std::string& path, GeneratedFunctions& functions) {
  const auto bytes = read_regular_file(path, Owner::self, kLargestDump);
  if (bytes) Dump(functions).read(*bytes);
}

}  // namespace culprit::assemble
