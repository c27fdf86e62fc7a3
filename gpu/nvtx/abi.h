// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What programs built with NVTX 3, which is headers alone, and a tool agree on: the program opens
// the library that NVTX_INJECTION64_PATH names at its first call, hands over tables with places for
// its functions, and calls through what the tool has put there. Only what is used here is spelled
// out, so that it builds without NVIDIA's headers; tests compare it with them where they are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::gpu::nvtx::abi {

enum class Table : uint32_t { callbacks = 1 };

enum class Module : int32_t { core = 1, core2 = 5 };

/// Places in the two modules' tables.
enum class Core : uint32_t {
  mark_ex = 1,
  mark_a = 2,
  mark_w = 3,
  range_start_ex = 4,
  range_start_a = 5,
  range_start_w = 6,
  range_push_ex = 8,
  range_push_a = 9,
  range_push_w = 10,
  range_pop = 11,
};
enum class Core2 : uint32_t {
  domain_mark_ex = 1,
  domain_range_start_ex = 2,
  domain_range_push_ex = 4,
  domain_range_pop = 5,
  domain_register_string_a = 10,
  domain_register_string_w = 11,
  domain_create_a = 12,
  domain_create_w = 13,
};

enum class MessageType : int32_t { none = 0, ascii = 1, unicode = 2, registered = 3 };

/// nvtxEventAttributes_t; later versions only grow at the end.
struct Attributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  MessageType message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    const void* registered;  ///< what the tool gave back for it
  } message;
};
static_assert(offsetof(Attributes, message) == 40 && sizeof(Attributes) == 48);

using Function = void (*)();

struct Callbacks {
  size_t size;
  /// Gives an array of places by number, and how many there are.
  int (*functions_of)(Module module, Function*** places, unsigned* count);
};

using GetTable = const void* (*)(Table table);

}  // namespace culprit::gpu::nvtx::abi
