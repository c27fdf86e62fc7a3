// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Symbols as bytes in a file: a line that names format and version, a checksum of all that follows,
// the strings, and the symbols that refer to them.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assemble/names/symbol.h"

namespace culprit::assemble {

class SymbolPacker {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_integral_v<Number>);
    body_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& text) {
    const auto [it, added] = numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size()));
    if (added) {
      const auto length = static_cast<uint32_t>(text.size());
      texts_.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
    }
    number(it->second);
  }
  /// Everything, the strings first.
  std::string take() const {
    const auto count = static_cast<uint32_t>(numbers_.size());
    std::string all(reinterpret_cast<const char*>(&count), sizeof count);
    return all + texts_ + body_;
  }

  void symbols(const std::map<uint64_t, Symbol>& symbols);

 private:
  void symbol(uint64_t offset, const Symbol& symbol);

  std::map<std::string, uint32_t> numbers_;
  std::string texts_;
  std::string body_;
};

/// Reads what SymbolPacker has written; once something does not fit, it is damaged() for good.
class SymbolUnpacker {
 public:
  explicit SymbolUnpacker(std::string_view rest) : rest_(rest) {
    const auto count = number<uint32_t>();
    for (uint32_t i = 0; i < count && !damaged_; ++i) texts_.push_back(take(number<uint32_t>()));
  }
  template <class Number>
  Number number() {
    Number value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!damaged_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto index = number<uint32_t>();
    damaged_ = damaged_ || index >= texts_.size();
    return damaged_ ? std::string() : std::string(texts_[index]);
  }
  /// By offset; none if they are damaged.
  std::map<uint64_t, Symbol> symbols();
  bool damaged() const { return damaged_; }

 private:
  std::pair<uint64_t, Symbol> symbol();
  std::string_view take(size_t bytes) {
    damaged_ = damaged_ || bytes > rest_.size();
    if (damaged_) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  std::vector<std::string_view> texts_;
  bool damaged_ = false;
};

/// `packed` as a file's content that begins with `head`.
std::string sealed(std::string_view head, std::string_view packed);
/// What was sealed; empty if it was with another head, or is damaged.
std::string_view unsealed(std::string_view head, std::string_view content);

}  // namespace culprit::assemble
