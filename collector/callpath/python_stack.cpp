// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A signal handler may find a half-made frame: a pointer that leads to no code object is skipped.
#include "collector/callpath/python_stack.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>

#include "collector/process/fault_guard.h"

namespace culprit::collector::python {

namespace {

/// How the interpreter's calls on the C stack correspond to its own frames.
enum class PythonCalls : uint8_t {
  one_each,         ///< each frame has a call of its own
  first_is_marked,  ///< the outermost frame of a call is marked; another structure lies on the C
                    ///< stack
  own_frame,        ///< a frame that executes nothing lies on the C stack, outside of the others
};

struct Layout {
  unsigned minor;
  PythonCalls calls;
  int thread, c_frame, previous, code, instruction, unit, line, name, file, begin, ascii, other;
};

constexpr Layout kLayouts[] = {
#define PYTHON_LAYOUT(minor, calls, ...) {minor, PythonCalls::calls, __VA_ARGS__},
#include "collector/callpath/python_layouts.def"
};

constexpr int kType = 8;          ///< in an object
constexpr int kTextLength = 16;   ///< in a text object, in characters
constexpr int kTextState = 32;    ///< likewise
constexpr int kIsEntry = 68;      ///< in a frame of 3.11
constexpr int kOuterCFrame = 16;  ///< in a C frame of 3.11
constexpr int kOwner = 70;        ///< in a frame from 3.12 on
constexpr uint8_t kOwnedByC = 3;  ///< by the C stack
constexpr size_t kLongestText = 4096;

using ThreadState = void* (*)();

struct Interpreter {
  const Layout* layout;
  ThreadState thread_state;
  uintptr_t code_type, text_type;
  uintptr_t begin, end;  ///< address range of the function that interprets
};

Interpreter g_interpreter;
std::atomic<bool> g_is_there{false};
std::atomic<bool> g_is_trusted{false};  ///< frames have been read, and made sense
std::atomic<uint32_t> g_unknown{0};

template <class Value>
[[gnu::no_sanitize("address", "thread")]] Value load(uintptr_t object, int offset) {
  Value value;
  __builtin_memcpy(&value, reinterpret_cast<const char*>(object) + offset, sizeof value);
  return value;
}

uintptr_t pointer(uintptr_t object, int offset) {
  return load<uintptr_t>(object, offset);
}

bool is_aligned(uintptr_t object) {
  return object != 0 && object % alignof(void*) == 0;
}

bool is_a(uintptr_t object, uintptr_t type) {
  return is_aligned(object) && pointer(object, kType) == type;
}

bool is_text(uintptr_t object) {
  return is_a(object, g_interpreter.text_type) &&
         load<uint64_t>(object, kTextLength) <= kLongestText;
}

uint32_t offset_in(const Layout& layout, uintptr_t frame, uintptr_t code) {
  if (layout.unit != 0) {
    const auto index = load<int32_t>(frame, layout.instruction);
    return index < 0 ? 0 : static_cast<uint32_t>(index * layout.unit);
  }
  const uintptr_t begin = code + static_cast<uintptr_t>(layout.begin);
  const uintptr_t at = pointer(frame, layout.instruction);
  return at < begin ? 0 : static_cast<uint32_t>(at - begin);
}

bool add_frame(const Layout& layout, uintptr_t frame, Stack& stack) {
  const uintptr_t code = pointer(frame, layout.code);
  if (!is_a(code, g_interpreter.code_type)) return false;
  Frame& found = stack.at[stack.count];
  found.code = code;
  found.name = pointer(code, layout.name);
  found.file = pointer(code, layout.file);
  found.line = load<uint32_t>(code, layout.line);
  found.offset = offset_in(layout, frame, code);
  found.call = 0;
  if (!is_text(found.name) || !is_text(found.file)) return false;
  ++stack.count;
  return true;
}

/// Assigns the frames since the last call of the interpreter to this call.
void set_call(Stack& stack, unsigned& begin, uintptr_t call) {
  for (; begin < stack.count; ++begin) stack.at[begin].call = call;
}

void walk(uintptr_t thread, Stack& stack) {
  const Layout& layout = *g_interpreter.layout;
  uintptr_t c_frame = pointer(thread, layout.thread);
  uintptr_t frame = c_frame;
  if (layout.c_frame >= 0 && is_aligned(c_frame)) frame = pointer(c_frame, layout.c_frame);
  unsigned call_begin = 0;
  // Skipped frames count, too: a damaged chain may be a circle.
  for (unsigned i = 0; i < 2 * Stack::kMaxDepth && stack.count < Stack::kMaxDepth; ++i) {
    if (!is_aligned(frame)) break;
    if (layout.calls == PythonCalls::own_frame && load<uint8_t>(frame, kOwner) == kOwnedByC) {
      set_call(stack, call_begin, frame);
    } else {
      add_frame(layout, frame, stack);
    }
    if (layout.calls == PythonCalls::first_is_marked && load<uint8_t>(frame, kIsEntry) == 1) {
      set_call(stack, call_begin, c_frame);
      c_frame = is_aligned(c_frame) ? pointer(c_frame, kOuterCFrame) : 0;
    }
    frame = pointer(frame, layout.previous);
  }
}

const Layout* layout_of(uint32_t version) {
  for (const Layout& layout : kLayouts) {
    if (version >> 16 == (uint32_t{3} << 8 | layout.minor)) return &layout;
  }
  return nullptr;
}

/// A library that was loaded for one object only is not in the search order.
int find_library(dl_phdr_info* info, size_t, void* found) {
  const char* const path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  if (strncmp(name, "libpython3.", 11) != 0) return 0;
  *static_cast<const char**>(found) = path;
  return 1;
}

constexpr const char* kThreadState = "PyGILState_GetThisThreadState";

/// A handle in which to look up the interpreter's symbols.
void* find_handle() {
  if (dlsym(RTLD_DEFAULT, kThreadState) != nullptr) return RTLD_DEFAULT;
  const char* path = nullptr;
  dl_iterate_phdr(find_library, &path);
  return path != nullptr ? dlopen(path, RTLD_NOLOAD | RTLD_LAZY) : RTLD_DEFAULT;
}

/// The version in the form of Py_Version (0x030b02f0), which exists since 3.11. 0 if it cannot be
/// found.
uint32_t version_of(void* handle) {
  const auto tell = reinterpret_cast<const char* (*)()>(dlsym(handle, "Py_GetVersion"));
  if (tell == nullptr) return 0;
  const char* const text = tell();
  unsigned version = 0;
  for (const char* at = text; *at != '\0' && *at != ' '; ++at) {
    if (*at == '.') {
      if ((version >> 8) != 0) break;
      version <<= 8;
    } else if (*at >= '0' && *at <= '9') {
      version = (version & ~0xffu) | ((version & 0xffu) * 10 + static_cast<unsigned>(*at - '0'));
    } else {
      break;
    }
  }
  // Builds without the global lock lay out objects differently.
  const bool is_free_threaded = strstr(text, "free-threading") != nullptr;
  return is_free_threaded ? version << 16 | 0xffff : version << 16;
}

void trust(void* stack) {
  Stack& read_there = *static_cast<Stack*>(stack);
  read(read_there);
  if (read_there.count > 0) g_is_trusted.store(true, std::memory_order_relaxed);
}

}  // namespace

void find() {
  if (g_is_there.load(std::memory_order_acquire) || g_unknown.load() != 0) return;
  void* const handle = find_handle();
  const auto address = [handle](const char* symbol) {
    return reinterpret_cast<uintptr_t>(dlsym(handle, symbol));
  };
  if (address(kThreadState) == 0) return;
  const uint32_t version = version_of(handle);
  const bool has_lock = (version & 0xffff) == 0;
  Interpreter found = {};
  found.layout = has_lock ? layout_of(version) : nullptr;
  found.thread_state = reinterpret_cast<ThreadState>(address(kThreadState));
  found.code_type = address("PyCode_Type");
  found.text_type = address("PyUnicode_Type");
  found.begin = address("_PyEval_EvalFrameDefault");
  Dl_info file = {};
  ElfW(Sym)* symbol = nullptr;
  if (dladdr1(reinterpret_cast<void*>(found.begin), &file, reinterpret_cast<void**>(&symbol),
              RTLD_DL_SYMENT) != 0 &&
      symbol != nullptr) {
    found.end = found.begin + symbol->st_size;
  }
  if (found.layout == nullptr || found.code_type == 0 || found.text_type == 0) {
    g_unknown.store(version != 0 ? version : 1);
    return;
  }
  g_interpreter = found;
  g_is_there.store(true, std::memory_order_release);
}

bool is_there() {
  return g_is_there.load(std::memory_order_acquire);
}

uint32_t unknown_version() {
  return g_unknown.load(std::memory_order_relaxed);
}

void read(Stack& stack) {
  stack.count = 0;
  const auto thread = reinterpret_cast<uintptr_t>(g_interpreter.thread_state());
  if (is_aligned(thread)) walk(thread, stack);
}

void read_at_call(Stack& stack) {
  if (g_is_trusted.load(std::memory_order_relaxed)) [[likely]]
    return read(stack);
  // The guard costs system calls, and many programs have an interpreter but few threads that use
  // it.
  stack.count = 0;
  if (g_interpreter.thread_state() == nullptr) return;
  if (!run_guarded(trust, &stack)) stack.count = 0;
}

bool interprets(uintptr_t address) {
  return address >= g_interpreter.begin && address < g_interpreter.end;
}

namespace {

/// Appends a character; false if there is no room.
bool append(uint32_t character, char* to, size_t size, size_t& length) {
  const unsigned bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  if (length + bytes > size) return false;
  if (bytes == 1) {
    to[length++] = static_cast<char>(character);
    return true;
  }
  constexpr uint32_t kFirst[] = {0, 0, 0xc0, 0xe0, 0xf0};
  to[length++] = static_cast<char>(kFirst[bytes] | character >> 6 * (bytes - 1));
  for (unsigned i = bytes - 1; i-- > 0;) {
    to[length++] = static_cast<char>(0x80 | (character >> 6 * i & 0x3f));
  }
  return true;
}

}  // namespace

size_t text(uintptr_t object, char* to, size_t size) {
  const Layout& layout = *g_interpreter.layout;
  const auto state = load<uint32_t>(object, kTextState);
  const unsigned width = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4)) return 0;
  const uintptr_t begin = object + static_cast<uintptr_t>(is_ascii ? layout.ascii : layout.other);
  const auto count = load<uint64_t>(object, kTextLength);
  size_t length = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const int at = static_cast<int>(i * width);
    const uint32_t character = width == 1   ? load<uint8_t>(begin, at)
                               : width == 2 ? load<uint16_t>(begin, at)
                                            : load<uint32_t>(begin, at);
    if (!append(character, to, size, length)) break;
  }
  return length;
}

}  // namespace culprit::collector::python
