// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The walk itself. Assumes that code has unwind tables, as all x86-64 and aarch64 Linux compilers
// emit. Where an interrupted function has none, its callers are looked for (without_table.h); else
// the path ends there and hangs under the root.
#include "collector/callpath/unwind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unwind.h>

#include <cstring>

#include "collector/callpath/last_stack.h"
#include "collector/callpath/without_table.h"

namespace culprit::collector {

namespace {

struct Walk {
  Frames& frames;
  uintptr_t start;  ///< frames before this one belong to the collector or the signal
  bool start_is_pc;
  LastStack* known = nullptr;  ///< the walk stops at a frame of this stack
  unsigned met = 0;            ///< frames of `known` from the outermost to where the walk met it
  bool started = false;
  uintptr_t frame_pointer = 0;  ///< frame pointer of the first frame
};

/// The unwinder's number for rbp, which is needed where the first frame may have no table. On other
/// processors the unwinder would end the program if asked for a register that no frame has saved.
#if defined(__x86_64__)
constexpr int kFramePointer = 6;
#else
constexpr int kFramePointer = -1;
#endif

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  int interrupted = 0;
  const uintptr_t address = _Unwind_GetIPInfo(context, &interrupted);
  const uintptr_t cfa = _Unwind_GetCFA(context);
  if (!walk.started) {
    walk.started = (walk.start_is_pc ? address : cfa) == walk.start;
    if (!walk.started) return _URC_NO_REASON;
    if (kFramePointer >= 0) walk.frame_pointer = _Unwind_GetGR(context, kFramePointer);
  }
  if (address == 0) return _URC_END_OF_STACK;
  const Frame frame{address + (interrupted != 0 ? 1 : 0), cfa};
  if (walk.known != nullptr) walk.met = walk.known->meet(frame);
  if (walk.met != 0) return _URC_END_OF_STACK;
  if (walk.frames.count == Frames::kMaxDepth) {
    walk.frames.cut = true;
    return _URC_END_OF_STACK;
  }
  walk.frames.at[walk.frames.count++] = frame;
  return _URC_NO_REASON;
}

void take(Walk& walk) {
  walk.frames.count = 0;
  walk.frames.cut = false;
  _Unwind_Backtrace(visit, &walk);
}

void note_end(const Frames& frames) {
  if (frames.count > 0 && !frames.cut) note_outermost(frames.at[frames.count - 1].address);
}

struct Search {
  uintptr_t start;
  bool (*accepts)(uintptr_t);
  bool started = false;
  uintptr_t found = 0;
};

_Unwind_Reason_Code search(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const uintptr_t address = _Unwind_GetIP(context);
  search.started = search.started || _Unwind_GetCFA(context) == search.start;
  if (!search.started) return _URC_NO_REASON;
  if (address == 0) return _URC_END_OF_STACK;
  if (!search.accepts(address - 1)) return _URC_NO_REASON;
  search.found = address - 1;
  return _URC_END_OF_STACK;
}

constexpr const char* kFindObject = "_dl_find_object";

/// The memory that an entry of the dynamic section points at; nullptr if there is none.
template <class T>
const T* pointer_of(const link_map& object, ElfW(Sxword) tag) {
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != tag) continue;
    const ElfW(Addr) address = entry->d_un.d_ptr;
    return reinterpret_cast<const T*>(address >= object.l_addr ? address : object.l_addr + address);
  }
  return nullptr;
}

/// Whether the file refers to a symbol of another one.
bool refers_to(const link_map& object, const char* name) {
  const auto* symbols = pointer_of<ElfW(Sym)>(object, DT_SYMTAB);
  const auto* strings = pointer_of<char>(object, DT_STRTAB);
  // The second word is the number of the first symbol that the file has itself; of the older kind
  // of table, the number of all.
  const auto* table = pointer_of<uint32_t>(object, DT_GNU_HASH);
  if (table == nullptr) table = pointer_of<uint32_t>(object, DT_HASH);
  if (symbols == nullptr || strings == nullptr || table == nullptr) return false;
  for (uint32_t i = 0; i < table[1]; ++i) {
    const ElfW(Sym)& symbol = symbols[i];
    if (symbol.st_shndx == SHN_UNDEF && strcmp(strings + symbol.st_name, name) == 0) return true;
  }
  return false;
}

_Unwind_Reason_Code ignore(_Unwind_Context*, void*) {
  return _URC_NO_REASON;
}

}  // namespace

void unwind_above(uintptr_t cfa, Frames& frames) {
  Walk walk{frames, cfa, false};
  take(walk);
  note_end(frames);
}

unsigned unwind_to_known(uintptr_t cfa, Frames& frames, LastStack& known) {
  known.begin_walk();
  Walk walk{frames, cfa, false, &known};
  take(walk);
  if (walk.met == 0) note_end(frames);
  return walk.met;
}

uintptr_t find_caller(uintptr_t cfa, bool (*accepts)(uintptr_t)) {
  Search state{cfa, accepts};
  _Unwind_Backtrace(search, &state);
  return state.found;
}

void unwind_interrupted(uintptr_t pc, Frames& frames, bool (*is_code)(uintptr_t)) {
  Walk walk{frames, pc, true};
  take(walk);
  if (frames.count == 1) find_callers(frames, walk.frame_pointer, is_code);
}

void warm_up_unwinder() {
  _Unwind_Backtrace(ignore, nullptr);
}

bool unwinder_is_signal_safe() {
  return dlsym(RTLD_DEFAULT, kFindObject) != nullptr;
}

bool unwinder_is_reentrant() {
  Dl_info info = {};
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&_Unwind_Backtrace), &info,
              reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) {
    return false;
  }
  return object != nullptr && refers_to(*object, kFindObject);
}

}  // namespace culprit::collector
