// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// libdwfl walks the frames over memory that we give it. The system does not provide the frame
// pointer of a blocked thread that was not stopped. Frames of the system's libraries do without it,
// but functions compiled without optimisation need it. It is then searched for on the stack: it
// points at a slot below the return address of the call to that very function, and the walk begins
// anew with it. Any other guess could name functions that were never called.
#include "assemble/look/live_stacks.h"

#include <elfutils/libdwfl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "assemble/look/copy_memory.h"
#include "assemble/look/proc.h"
#include "base/address_range.h"

namespace culprit::assemble::look {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostStack = size_t{256} << 10;
constexpr size_t kMostFrames = 200;

/// DWARF's numbers of the registers.
#if defined(__x86_64__)
constexpr int kSp = 7, kPc = 16, kFramePointer = 6;
#else
constexpr int kSp = 31, kPc = 32, kFramePointer = 29;
#endif

const Dwfl_Callbacks kFiles = {
    .find_elf = dwfl_linux_proc_find_elf,
    // Unwinding needs only loaded data. Debug information would be read from files, and may be
    // large.
    .find_debuginfo = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                         GElf_Word, char**) { return -1; },
    .section_address = nullptr,
    .debuginfo_path = nullptr,
};

}  // namespace

/// What libdwfl is to know of a process whose files are found at `root`: its map, with their paths
/// there.
bool report_below(Dwfl* dwfl, pid_t process, const std::string& root) {
  std::string maps = mapped_below(read_proc("/proc/" + std::to_string(process) + "/maps"), root);
  if (maps.empty()) return false;
  const std::unique_ptr<FILE, int (*)(FILE*)> in(fmemopen(maps.data(), maps.size(), "r"), fclose);
  return in && dwfl_linux_proc_maps_report(dwfl, in.get()) == 0;
}

struct LiveStacks::Unwinder {
  Unwinder(pid_t of, const std::string& root) : process(of), dwfl(dwfl_begin(&kFiles)) {
    if (dwfl == nullptr) return;
    const bool reported = root.empty() ? dwfl_linux_proc_report(dwfl, process) == 0
                                       : report_below(dwfl, process, root);
    const bool known = reported && dwfl_report_end(dwfl, nullptr, nullptr) == 0;
    ready = known && dwfl_attach_state(dwfl, nullptr, process, &kThread, this);
  }
  ~Unwinder() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  bool copy_stack() {
    stack.resize(kMostStack);
    size_t got = copy_memory(process, sp, stack.data(), stack.size());
    stack.resize(got);
    return got > 0;
  }
  std::optional<uint64_t> word(uint64_t address) const {
    uint64_t value = 0;
    if (AddressRange{sp, stack.size()}.holds(address, sizeof value)) {
      std::memcpy(&value, stack.data() + (address - sp), sizeof value);
      return value;
    }
    if (copy_memory(process, address, &value, sizeof value) < sizeof value) return std::nullopt;
    return value;
  }

  /// The innermost frame for which the walk knew no caller: where it begins, and its code.
  struct End {
    uint64_t pc = 0;
    uint64_t sp = 0;
  };
  End walk() {
    frames.clear();
    last = {};
    dwfl_getthread_frames(dwfl, process, on_frame, this);
    return last;
  }

  std::optional<uint64_t> find_frame_pointer(const End& end) const;
  bool is_call_of(uint64_t after, uint64_t function) const;
  bool is_from_system(uint64_t after) const;

  // --- What libdwfl asks ---

  static int on_frame(Dwfl_Frame* state, void* argument) {
    auto& self = *static_cast<Unwinder*>(argument);
    Dwarf_Addr pc = 0;
    bool is_activation = false;
    if (!dwfl_frame_pc(state, &pc, &is_activation)) return DWARF_CB_ABORT;
    Dwarf_Word sp = 0;
    if (dwfl_frame_reg(state, kSp, &sp) != 0) sp = 0;
    // The innermost, and what a signal has interrupted, stand at an instruction of their own.
    self.frames.push_back(pc + (is_activation ? 1 : 0));
    self.last = {pc - (is_activation ? 0 : 1), sp};
    return self.frames.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
  }
  static pid_t next_thread(Dwfl*, void* of, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = of;
    return static_cast<Unwinder*>(of)->process;
  }
  static bool get_thread(Dwfl*, pid_t, void* of, void** thread) {
    *thread = of;
    return true;
  }
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* of) {
    const auto value = static_cast<const Unwinder*>(of)->word(address);
    if (value) *result = *value;
    return value.has_value();
  }
  static bool set_registers(Dwfl_Thread* thread, void* of) {
    const auto& self = *static_cast<const Unwinder*>(of);
    if (self.registers != nullptr) return set_all(thread, *self.registers);
    const Dwarf_Word sp = self.sp, pc = self.pc;
    if (!dwfl_thread_state_registers(thread, kSp, 1, &sp)) return false;
    if (kPc < 32 && !dwfl_thread_state_registers(thread, kPc, 1, &pc)) return false;
    if (self.frame_pointer) {
      const Dwarf_Word fp = *self.frame_pointer;
      if (!dwfl_thread_state_registers(thread, kFramePointer, 1, &fp)) return false;
    }
    dwfl_thread_state_register_pc(thread, pc);
    return true;
  }
  static bool set_all(Dwfl_Thread* thread, const std::array<uint64_t, kRegisters>& all) {
    const bool set = dwfl_thread_state_registers(thread, 0, kPcRegister, all.data());
    if (kPc < 32 && !dwfl_thread_state_registers(thread, kPc, 1, &all[kPcRegister])) return false;
    dwfl_thread_state_register_pc(thread, all[kPcRegister]);
    return set;
  }
  static constexpr Dwfl_Thread_Callbacks kThread = {
      .next_thread = next_thread,
      .get_thread = get_thread,
      .memory_read = read_memory,
      .set_initial_registers = set_registers,
      .detach = nullptr,
      .thread_detach = nullptr,
  };

  pid_t process;
  Dwfl* dwfl;
  bool ready = false;
  uint64_t sp = 0, pc = 0;
  std::optional<uint64_t> frame_pointer;
  const std::array<uint64_t, kRegisters>* registers = nullptr;  ///< of a thread that was stopped
  std::vector<uint8_t> stack;                                   ///< copied, from sp on
  std::vector<uint64_t> frames;
  End last;
};

/// Whether a direct call of the function, or one through a table, stands in front of the address.
bool LiveStacks::Unwinder::is_call_of(uint64_t after, uint64_t function) const {
  std::array<uint8_t, 6> code = {};
  if (copy_memory(process, after - code.size(), code.data(), code.size()) < code.size())
    return false;
  if (code[1] == 0xe8) {
    int32_t distance = 0;
    std::memcpy(&distance, &code[2], sizeof distance);
    const uint64_t target = after + static_cast<uint64_t>(int64_t{distance});
    if (target == function) return true;
    std::array<uint8_t, 16> stub = {};  // of the linker: it jumps through a table
    if (copy_memory(process, target, stub.data(), stub.size()) < stub.size()) return false;
    const auto jump = std::search(stub.begin(), stub.end(), "\xff\x25", "\xff\x25" + 2,
                                  [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); });
    return jump != stub.end();
  }
  const auto is_indirect = [](uint8_t first, uint8_t second) {
    return first == 0xff && (second & 0x38) == 0x10;
  };
  return is_indirect(code[4], code[5]) || is_indirect(code[3], code[4]) ||
         is_indirect(code[0], code[1]) || is_indirect(code[2], code[3]);
}

/// The C library calls main and what threads begin with, with anything in the frame pointer.
bool LiveStacks::Unwinder::is_from_system(uint64_t after) const {
  Dwfl_Module* module = dwfl_addrmodule(dwfl, after);
  if (module == nullptr) return false;
  const char* name =
      dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return name != nullptr && std::string_view(name).find("/libc.so") != std::string_view::npos;
}

std::optional<uint64_t> LiveStacks::Unwinder::find_frame_pointer(const End& end) const {
#if defined(__x86_64__)
  Dwfl_Module* module = dwfl_addrmodule(dwfl, end.pc);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const bool named =
      module != nullptr &&
      dwfl_module_addrinfo(module, end.pc, &offset, &symbol, nullptr, nullptr, nullptr) != nullptr;
  const uint64_t function = named ? end.pc - offset : 0;
  constexpr uint64_t kSlot = 8;
  const AddressRange copied{sp, stack.size()};
  // A walk that found nothing ends nowhere, and one that was led astray, anywhere.
  const uint64_t begin = copied.holds(end.sp, kSlot) ? end.sp : sp;
  for (uint64_t slot = (begin + kSlot - 1) & ~(kSlot - 1); copied.holds(slot, 2 * kSlot);
       slot += kSlot) {
    const uint64_t saved = *word(slot), after = *word(slot + kSlot);
    if (after < kPage || dwfl_addrmodule(dwfl, after) == nullptr) continue;
    const bool points_up = saved > slot && saved - slot < copied.size + kMostStack;
    if ((points_up || is_from_system(after)) && is_call_of(after, function)) return slot;
  }
#endif
  return std::nullopt;
}

LiveStacks::LiveStacks(pid_t process, const std::string& root)
    : unwinder_(std::make_unique<Unwinder>(process, root)) {}
LiveStacks::~LiveStacks() = default;

std::vector<uint64_t> LiveStacks::of(uint64_t sp, uint64_t pc) {
  Unwinder& unwinder = *unwinder_;
  if (!unwinder.ready) return {};
  unwinder.sp = sp;
  unwinder.pc = pc;
  unwinder.frame_pointer.reset();
  if (!unwinder.copy_stack()) return {};
  const Unwinder::End end = unwinder.walk();
  std::vector<uint64_t> found = unwinder.frames;
  unwinder.frame_pointer = unwinder.find_frame_pointer(end);
  if (!unwinder.frame_pointer) return found;
  unwinder.walk();
  return unwinder.frames.size() > found.size() ? unwinder.frames : found;
}

std::vector<uint64_t> LiveStacks::of(StoppedThread&& thread) {
  Unwinder& unwinder = *unwinder_;
  if (!unwinder.ready) return {};
  unwinder.sp = thread.sp();
  unwinder.stack = std::move(thread.stack);
  unwinder.registers = &thread.registers;
  unwinder.walk();
  unwinder.registers = nullptr;
  return unwinder.frames;
}

}  // namespace culprit::assemble::look
