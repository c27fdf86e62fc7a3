// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu/nvtx/names.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "gpu/lock.h"

namespace culprit::gpu::nvtx {

struct Domain {
  std::string name;
  std::map<std::string, Registered*, std::less<>> strings;
};

struct Registered {
  Text name;  ///< behind its domain's
};

namespace {

constexpr std::string_view kUnnamed = "(unnamed range)";
constexpr char32_t kReplacement = 0xFFFD;

using Domains = std::map<std::string, Domain*, std::less<>>;

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
Domains& domains() {
  static auto* const all = new Domains;  // never torn down
  return *all;
}

Text behind(const Domain* domain) {
  Text text;
  if (domain == nullptr || domain->name.empty()) return text;
  text.add(domain->name);
  text.add(": ");
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
  const Lock lock(g_mutex);
  const auto known = domains().find(name);
  if (known != domains().end()) return known->second;
  auto* const domain = new Domain{std::string(name), {}};
  domains().emplace(domain->name, domain);
  return domain;
}

const Registered* register_string(const Domain* domain, const Text& string) {
  const Domain* const owner = domain != nullptr ? domain : domain_named("");
  const Lock lock(g_mutex);
  auto& strings = const_cast<Domain*>(owner)->strings;
  const auto known = strings.find(string.view());
  if (known != strings.end()) return known->second;
  auto* const registered = new Registered{behind(domain)};
  registered->name.add(string.view());
  strings.emplace(std::string(string.view()), registered);
  return registered;
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
      return static_cast<const Registered*>(attributes->message.registered)->name;
    case abi::MessageType::none:
      break;
  }
  return message(domain, static_cast<const char*>(nullptr));
}

}  // namespace culprit::gpu::nvtx
