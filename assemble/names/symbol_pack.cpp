// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Strings are written once and referred to by number. Nothing is believed before the checksum
// agrees, and no number before it is in range.
#include "assemble/names/symbol_pack.h"

#include "base/fnv.h"

namespace culprit::assemble {
namespace {

constexpr uint8_t kProgram = 1;
constexpr uint8_t kNamed = 2;
constexpr uint8_t kFromDebugInfo = 4;
constexpr uint8_t kStub = 8;
constexpr uint8_t kSpins = 16;
constexpr uint8_t kPart = 32;

}  // namespace

void SymbolPacker::symbol(uint64_t offset, const Symbol& symbol) {
  number(offset);
  number(symbol.address);
  number(symbol.into_function);
  number(symbol.line);
  text(symbol.file);
  text(symbol.calls);
  number(static_cast<uint8_t>((symbol.program ? kProgram : 0) | (symbol.named ? kNamed : 0) |
                              (symbol.from_debug_info ? kFromDebugInfo : 0) |
                              (symbol.stub ? kStub : 0) | (symbol.spins ? kSpins : 0) |
                              (symbol.part ? kPart : 0)));
  number(static_cast<uint32_t>(symbol.frames.size()));
  for (const SourceFrame& frame : symbol.frames) {
    text(frame.function);
    text(frame.file);
    number(frame.line);
  }
}

void SymbolPacker::symbols(const std::map<uint64_t, Symbol>& symbols) {
  number(static_cast<uint32_t>(symbols.size()));
  for (const auto& [offset, one] : symbols) symbol(offset, one);
}

std::pair<uint64_t, Symbol> SymbolUnpacker::symbol() {
  Symbol symbol;
  const auto offset = number<uint64_t>();
  symbol.address = number<uint64_t>();
  symbol.into_function = number<uint64_t>();
  symbol.line = number<uint32_t>();
  symbol.file = text();
  symbol.calls = text();
  const auto flags = number<uint8_t>();
  symbol.program = (flags & kProgram) != 0;
  symbol.named = (flags & kNamed) != 0;
  symbol.from_debug_info = (flags & kFromDebugInfo) != 0;
  symbol.stub = (flags & kStub) != 0;
  symbol.spins = (flags & kSpins) != 0;
  symbol.part = (flags & kPart) != 0;
  const auto frames = number<uint32_t>();
  for (uint32_t i = 0; i < frames && !damaged_; ++i) {
    SourceFrame& frame = symbol.frames.emplace_back();
    frame.function = text();
    frame.file = text();
    frame.line = number<uint32_t>();
  }
  damaged_ = damaged_ || symbol.frames.empty();
  return {offset, std::move(symbol)};
}

std::map<uint64_t, Symbol> SymbolUnpacker::symbols() {
  std::map<uint64_t, Symbol> symbols;
  const auto count = number<uint32_t>();
  for (uint32_t i = 0; i < count && !damaged_; ++i) symbols.insert(symbol());
  return damaged_ ? std::map<uint64_t, Symbol>() : symbols;
}

std::string sealed(std::string_view head, std::string_view packed) {
  const uint64_t sum = fnv1a(packed);
  std::string content(head);
  return content.append(reinterpret_cast<const char*>(&sum), sizeof sum).append(packed);
}

std::string_view unsealed(std::string_view head, std::string_view content) {
  uint64_t sum = 0;
  if (!content.starts_with(head) || content.size() < head.size() + sizeof sum) return {};
  content.remove_prefix(head.size());
  std::memcpy(&sum, content.data(), sizeof sum);
  content.remove_prefix(sizeof sum);
  return fnv1a(content) == sum ? content : std::string_view();
}

}  // namespace culprit::assemble
