// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tables of a fixed size, whose entries are never moved and never freed, so that readers need no
// lock. A string that finds no slot has no name.
#include "gpu/nvtx/names.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace culprit::gpu::nvtx {

namespace {

constexpr std::string_view kUnnamed = "(unnamed range)";
constexpr char32_t kReplacement = 0xFFFD;

/// A hash table whose entries never go: its slots fill up one by one. A name that finds no free
/// slot among a fixed number behind its own is not kept.
template <class Name, size_t kSlots>
class KeptForever {
 public:
  const Name* keep(std::string_view text) {
    constexpr size_t kMostSteps = 64;
    Name* made = nullptr;
    for (size_t i = 0, slot = hash(text); i < kMostSteps; ++i, ++slot) {
      std::atomic<const Name*>& place = slots_[slot % kSlots];
      const Name* known = place.load(std::memory_order_acquire);
      if (known == nullptr) {
        if (made == nullptr) made = make(text);
        if (made == nullptr || place.compare_exchange_strong(known, made)) return made;
      }
      if (known->view() == text) {
        free(made);
        return known;
      }
    }
    free(made);
    return nullptr;
  }

 private:
  /// FNV-1a.
  static size_t hash(std::string_view text) {
    uint64_t value = 0xcbf29ce484222325;
    for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    return value;
  }
  static Name* make(std::string_view text) {
    void* const memory = malloc(sizeof(Name) + text.size());
    if (memory == nullptr) return nullptr;
    memcpy(static_cast<char*>(memory) + sizeof(Name), text.data(), text.size());
    return ::new (memory) Name{{text.size()}};
  }

  std::atomic<const Name*> slots_[kSlots] = {};
};

constinit KeptForever<Domain, 1024> g_domains;
constinit KeptForever<Registered, 16384> g_strings;

Text behind(const Domain* domain) {
  Text text;
  if (domain == nullptr || domain->length == 0) return text;
  text.add(domain->view());
  text.add(": ");
  return text;
}

Text text_of(const Registered& string) {
  Text text;
  text.add(string.view());
  return text;
}

/// Leaves out a character that does not fit whole.
void add_character(Text& text, char32_t code) {
  char bytes[4];
  size_t count = 0;
  const auto put = [&](char32_t byte) { bytes[count++] = static_cast<char>(byte); };
  const auto rest = [&](unsigned shift) { put(0x80 | (code >> shift & 0x3F)); };
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = kReplacement;
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), rest(0);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), rest(6), rest(0);
  } else {
    put(0xF0 | code >> 18), rest(12), rest(6), rest(0);
  }
  if (text.length + count <= kMostBytes) text.add(std::string_view(bytes, count));
}

}  // namespace

void Text::add(std::string_view more) {
  const size_t taken = std::min(more.size(), kMostBytes - length);
  memcpy(bytes.data() + length, more.data(), taken);
  length += taken;
}

void Text::add(const wchar_t* more) {
  for (; *more != 0 && length < kMostBytes; ++more) {
    add_character(*this, static_cast<char32_t>(*more));
  }
}

const Domain* domain_named(std::string_view name) {
  return g_domains.keep(name.substr(0, kMostBytes));
}

const Registered* register_string(const Domain* domain, const Text& string) {
  Text name = behind(domain);
  name.add(string.view());
  return g_strings.keep(name.view());
}

Text message(const Domain* domain, const char* text) {
  Text name = behind(domain);
  name.add(text != nullptr ? std::string_view(text) : kUnnamed);
  return name;
}

Text message(const Domain* domain, const wchar_t* text) {
  if (text == nullptr) return message(domain, static_cast<const char*>(nullptr));
  Text name = behind(domain);
  name.add(text);
  return name;
}

Text message(const Domain* domain, const abi::Attributes* attributes) {
  const bool told = attributes != nullptr && attributes->size >= sizeof *attributes;
  switch (told ? attributes->message_type : abi::MessageType::none) {
    case abi::MessageType::ascii:
      return message(domain, attributes->message.ascii);
    case abi::MessageType::unicode:
      return message(domain, attributes->message.unicode);
    case abi::MessageType::registered:
      if (attributes->message.registered == nullptr) break;
      return text_of(*static_cast<const Registered*>(attributes->message.registered));
    case abi::MessageType::none:
      break;
  }
  return message(domain, static_cast<const char*>(nullptr));
}

}  // namespace culprit::gpu::nvtx
