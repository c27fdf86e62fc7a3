// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A loop consists of all instructions that lead to a jump back without passing its target. A
// register that is read before it is written in a round, and written in it, carries a value from
// one round to the next: a counter, a pointer, a sum. Places on the stack are treated as registers,
// since code that is not optimized uses them so. Calls change some registers.
#include "assemble/names/spin_loop.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/mpi_calls.h"

namespace culprit::assemble {
namespace {

/// Loops that wait are short; so are jumps back in them.
constexpr size_t kLongestLoop = 96;
constexpr size_t kMostInstructions = 36;
/// Of a function, on either side of the place: to read all of large ones takes too long. Whatever
/// byte one begins with, soon the instructions are the right ones.
constexpr size_t kAround = 1024;

constexpr unsigned char kLock = 0xf0;

/// Whether a jump by a negative distance may follow: a glance that spares most code the rest.
bool may_jump_back(std::span<const unsigned char> code, size_t at) {
  const size_t end = std::min(code.size(), at + kLongestLoop);
  for (size_t i = at; i + 1 < end; ++i) {
    const bool is_short = (code[i] & 0xf0) == 0x70 || code[i] == 0xeb;
    const bool is_near = (code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80) || code[i] == 0xe9;
    if ((is_short && code[i + 1] >= 0x80) || is_near) return true;
  }
  return false;
}

class Disassembler {
 public:
  Disassembler() : open_(cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) == CS_ERR_OK) {
    if (!open_) return;
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    cs_option(handle_, CS_OPT_SKIPDATA, CS_OPT_ON);
  }
  ~Disassembler() {
    if (count_ > 0) cs_free(instructions_, count_);
    if (open_) cs_close(&handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// Addresses count from the first byte.
  std::span<const cs_insn> all_of(std::span<const unsigned char> code) {
    if (open_) count_ = cs_disasm(handle_, code.data(), code.size(), 0, 0, &instructions_);
    return {instructions_, count_};
  }

  struct Access {
    std::vector<unsigned> read, written;
  };
  Access registers(const cs_insn& instruction) const {
    cs_regs read, written;
    uint8_t reads = 0, writes = 0;
    Access access;
    if (cs_regs_access(handle_, &instruction, read, &reads, written, &writes) != CS_ERR_OK) {
      return access;
    }
    for (uint8_t i = 0; i < reads; ++i) access.read.push_back(read[i]);
    for (uint8_t i = 0; i < writes; ++i) access.written.push_back(written[i]);
    return access;
  }
  /// "al" and "rax" are one.
  std::string family(unsigned number) const {
    const char* const name = cs_reg_name(handle_, number);
    return name != nullptr ? family_of(name) : std::string();
  }

 private:
  static std::string family_of(std::string name);

  csh handle_ = 0;
  bool open_;
  cs_insn* instructions_ = nullptr;
  size_t count_ = 0;
};

/// The register's name without its size; empty for flags and the program counter.
std::string Disassembler::family_of(std::string name) {
  if (name == "rflags" || name == "eflags" || name == "flags" || name == "rip") return "";
  if (name[0] == 'r' && name.size() > 1 && name[1] >= '0' && name[1] <= '9') {  // r8 to r15
    while (name.back() == 'd' || name.back() == 'w' || name.back() == 'b') name.pop_back();
    return name;
  }
  if (name[0] == 'x' || name[0] == 'y' || name[0] == 'z') return "v" + name.substr(1);  // vectors
  if (name[0] == 'r' || name[0] == 'e') name.erase(0, 1);                               // rax, eax
  if (name.size() == 2 && (name[1] == 'l' || name[1] == 'h')) name[1] = 'x';            // al, ah
  if (name.size() == 3 && name[2] == 'l') name.pop_back();                              // sil
  return name;
}

bool is_group(const cs_insn& instruction, uint8_t group) {
  if (instruction.id == 0) return false;  // bytes that are no instruction
  const cs_detail& detail = *instruction.detail;
  return std::find(detail.groups, detail.groups + detail.groups_count, group) !=
         detail.groups + detail.groups_count;
}

/// Where a jump goes.
std::optional<uint64_t> target_of(const cs_insn& instruction) {
  if (!is_group(instruction, CS_GRP_JUMP)) return std::nullopt;
  const cs_x86& x86 = instruction.detail->x86;
  if (x86.op_count != 1 || x86.operands[0].type != X86_OP_IMM) return std::nullopt;
  return static_cast<uint64_t>(x86.operands[0].imm);
}

/// The instructions of a function, and what may precede each.
class ControlFlow {
 public:
  explicit ControlFlow(std::span<const cs_insn> all) : all_(all), before_(all.size()) {
    for (size_t i = 0; i < all.size(); ++i) {
      const std::optional<uint64_t> target = target_of(all[i]);
      if (goes_on(all[i]) && i + 1 < all.size()) before_[i + 1].push_back(i);
      const std::optional<size_t> to = target ? index_at(*target) : std::nullopt;
      if (!to) continue;
      before_[*to].push_back(i);
      if (*to <= i) jumps_back_.push_back({i, *to});
    }
  }

  /// The short loops with this instruction, the smallest first, each from where it begins.
  std::vector<std::vector<size_t>> loops_around(size_t instruction) const {
    std::vector<std::vector<size_t>> found;
    for (const JumpBack& jump : jumps_back_) {
      std::vector<size_t> loop = loop_of(jump);
      if (std::find(loop.begin(), loop.end(), instruction) != loop.end()) {
        found.push_back(std::move(loop));
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return found;
  }

  /// The instruction around an address.
  std::optional<size_t> index_around(uint64_t address) const {
    const auto after =
        std::upper_bound(all_.begin(), all_.end(), address,
                         [](uint64_t at, const cs_insn& one) { return at < one.address; });
    if (after == all_.begin()) return std::nullopt;
    const cs_insn& found = *(after - 1);
    if (address >= found.address + found.size) return std::nullopt;
    return static_cast<size_t>(after - 1 - all_.begin());
  }

 private:
  static bool goes_on(const cs_insn& instruction) {
    return instruction.id != X86_INS_JMP && instruction.id != X86_INS_UD2 &&
           instruction.id != X86_INS_HLT && !is_group(instruction, CS_GRP_RET);
  }

  std::optional<size_t> index_at(uint64_t address) const {
    const std::optional<size_t> found = index_around(address);
    return found && all_[*found].address == address ? found : std::nullopt;
  }

  struct JumpBack {
    size_t from, to;
  };

  /// All from which the jump is reached without passing where it goes, and that; empty if it cannot
  /// be reached from there, or if there are too many. What comes from before enters the loop, if
  /// need be in its midst: tests often stand at the end.
  std::vector<size_t> loop_of(const JumpBack& jump) const {
    std::vector<size_t> found;
    std::vector<size_t> open = {jump.from};
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      if (at < jump.to || std::find(found.begin(), found.end(), at) != found.end()) continue;
      if (found.size() == kMostInstructions) return {};
      found.push_back(at);
      if (at != jump.to) open.insert(open.end(), before_[at].begin(), before_[at].end());
    }
    std::sort(found.begin(), found.end());
    return found.front() == jump.to ? found : std::vector<size_t>();
  }

  std::span<const cs_insn> all_;
  std::vector<std::vector<size_t>> before_;
  std::vector<JumpBack> jumps_back_;
};

/// xor %eax, %eax: reads nothing, whatever it is called.
bool sets_to_zero(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  return (instruction.id == X86_INS_XOR || instruction.id == X86_INS_SUB) && x86.op_count == 2 &&
         x86.operands[0].type == X86_OP_REG && x86.operands[1].type == X86_OP_REG &&
         x86.operands[0].reg == x86.operands[1].reg;
}

/// What it returns is no memory that another thread changes.
constexpr std::string_view kErrno = "__errno_location";

/// Functions of the system that only let time pass.
constexpr std::string_view kPassTime[] = {"usleep",     "nanosleep",     "clock_nanosleep",
                                          "sleep",      "thrd_sleep",    "sched_yield",
                                          "thrd_yield", "pthread_yield", kErrno};

/// Whether the function only lets time pass, or makes visible what others wrote to memory.
bool lets_time_pass(std::string_view function) {
  using trace::MpiTrait;
  if (std::find(std::begin(kPassTime), std::end(kPassTime), function) != std::end(kPassTime)) {
    return true;
  }
  const trace::MpiCall* const call = trace::mpi_call(function);
  return call != nullptr && call->is(MpiTrait::spins) && !call->is(MpiTrait::tries_lock);
}

/// Registers that a call may change.
constexpr std::string_view kOfCalls[] = {"ax", "cx", "dx", "si", "di", "r8", "r9", "r10", "r11"};

/// One round of a loop, instruction by instruction.
class Round {
 public:
  Round(const Disassembler& disassembler, const CalledBefore& called)
      : disassembler_(disassembler), called_(called) {}

  void see(const cs_insn& instruction) {
    if (instruction.id == 0) leaves_ = true;
    if (leaves_ || instruction.id == X86_INS_NOP) return;
    if (instruction.id == X86_INS_PAUSE) pauses_ = true;
    if (is_group(instruction, CS_GRP_CALL)) return see_call(instruction);
    for (const uint8_t group : {CS_GRP_RET, CS_GRP_INT, CS_GRP_IRET}) {
      leaves_ = leaves_ || is_group(instruction, group);
    }
    see_memory(instruction);
    if (instruction.id == X86_INS_CMPXCHG) {  // its compared and loaded values are not among the
                                              // operands
      read("ax");
      write("ax");
    }
    const Disassembler::Access access = disassembler_.registers(instruction);
    if (!sets_to_zero(instruction)) {
      for (const unsigned one : access.read) read(disassembler_.family(one));
    }
    for (const unsigned one : access.written) write(disassembler_.family(one));
  }

  bool passes_time() const { return !leaves_ && passes_time_; }
  bool waits() const {
    if (leaves_) return false;
    if (pauses_) return true;
    const bool carries = std::any_of(early_.begin(), early_.end(), [&](const std::string& place) {
      return written_.contains(place);
    });
    return looks_ && !changes_ && !carries;
  }

 private:
  void read(const std::string& place) {
    if (!place.empty() && !written_.contains(place)) early_.insert(place);
  }
  void write(const std::string& place) {
    if (!place.empty()) written_.insert(place);
    if (place == "ax") errno_at_ax_ = false;
  }

  void see_call(const cs_insn& instruction) {
    const std::optional<std::string> name = called_(instruction.address + instruction.size);
    if (!name || !lets_time_pass(*name)) {
      leaves_ = true;
      return;
    }
    passes_time_ = true;
    for (const std::string_view one : kOfCalls) write(std::string(one));
    errno_at_ax_ = *name == kErrno;
  }

  void see_memory(const cs_insn& instruction) {
    const cs_x86& x86 = instruction.detail->x86;
    const bool is_atomic = x86.prefix[0] == kLock || instruction.id == X86_INS_XCHG;
    for (uint8_t i = 0; i < x86.op_count; ++i) {
      const cs_x86_op& operand = x86.operands[i];
      if (operand.type != X86_OP_MEM || instruction.id == X86_INS_LEA) continue;
      const std::string place = stack_place(operand.mem);
      const bool reads = (operand.access & CS_AC_READ) != 0;
      const bool writes = (operand.access & CS_AC_WRITE) != 0;
      if (!place.empty()) {
        if (reads) read(place);
        if (writes) write(place);
        continue;
      }
      const bool is_errno = errno_at_ax_ && disassembler_.family(operand.mem.base) == "ax";
      looks_ = looks_ || (reads && !is_errno) || is_atomic;
      changes_ = changes_ || (writes && !is_atomic);
    }
  }

  /// "-8(bp)"; empty if it is elsewhere.
  std::string stack_place(const x86_op_mem& memory) const {
    if (memory.index != X86_REG_INVALID || memory.segment != X86_REG_INVALID) return "";
    // Optimized code uses rbp for other pointers.
    const bool on_stack =
        (memory.base == X86_REG_RBP && memory.disp < 0) || memory.base == X86_REG_RSP;
    return on_stack ? std::to_string(memory.disp) + '(' + disassembler_.family(memory.base) + ')'
                    : "";
  }

  const Disassembler& disassembler_;
  const CalledBefore& called_;
  std::set<std::string> early_;  ///< read before they were written
  std::set<std::string> written_;
  bool pauses_ = false, leaves_ = false, looks_ = false, changes_ = false;
  bool passes_time_ = false, errno_at_ax_ = false;
};

}  // namespace

bool is_spin_loop(std::span<const unsigned char> code, size_t at, const CalledBefore& called) {
  if (at >= code.size() || !may_jump_back(code, at)) return false;
  const size_t begin = at > kAround ? at - kAround : 0;
  code = code.subspan(begin, std::min(code.size() - begin, 2 * kAround));
  at -= begin;
  Disassembler disassembler;
  const std::span<const cs_insn> all = disassembler.all_of(code);
  const ControlFlow flow(all);
  const std::optional<size_t> here = flow.index_around(at);
  if (!here) return false;
  const CalledBefore called_here = [&](size_t place) { return called(begin + place); };
  // A sleep that a signal ended early is repeated in a loop of its own, within the one that waits.
  for (const std::vector<size_t>& loop : flow.loops_around(*here)) {
    Round round(disassembler, called_here);
    for (const size_t place : loop) round.see(all[place]);
    if (round.waits()) return true;
    if (!round.passes_time()) return false;
  }
  return false;
}

}  // namespace culprit::assemble
