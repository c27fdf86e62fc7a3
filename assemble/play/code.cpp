// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An address is looked up once in a process: its library gives the kind of code, its symbol the
// name. Paths are reduced to the user's frames when they are defined, not when they are used.
#include "assemble/play/code.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "assemble/names/generated/generated_code.h"
#include "trace/mpi_calls.h"

namespace culprit::assemble {
namespace {

/// How compilers mark the bodies that they outline: clang, gcc, flang, Intel's (new and old),
/// NVIDIA's.
constexpr std::array<std::string_view, 9> kOutlined = {
    ".omp_outlined", ".omp_task_entry", "._omp_fn.",  "..omp_par", ".DIR.OMP.",
    "__par_region",  "__par_loop",      "__par_task", "__nv_"};

/// Modules of Python's own library mean less to a reader than their callers, too.
LibraryUse use_of(std::string_view file, const trace::PythonModule& python, bool is_source,
                  const NotThePrograms& others) {
  if (file.starts_with("libculprit")) return {CodeKind::collector, Shown::never};
  if (python.standard) return {CodeKind::system, is_source ? Shown::always : Shown::never};
  return others.library(file, python.name);
}

/// What imports modules lies within the interpreter, and stands between one module and the next.
/// Others generate functions that do nothing but call the program's or numpy's.
bool stands_between(std::string_view file) {
  constexpr std::string_view kGenerated[] = {"<frozen ", "<__array_function__", "<decorator-gen-"};
  return std::any_of(std::begin(kGenerated), std::end(kGenerated),
                     [file](std::string_view beginning) { return file.starts_with(beginning); });
}

/// Code that Python executes before a thread's first line.
bool is_python_entry(const SourceFrame& source) {
  return source.file == "threading.py" && source.function.find("_bootstrap") != std::string::npos;
}

/// What that code calls itself, as to say that the thread has begun ("Event.set"). A thread's first
/// line is called by "Thread.run".
bool is_of_python_threads(const SourceFrame& source) {
  return source.file == "threading.py" && !source.function.ends_with("run");
}

/// Code in the program that means less than its caller: stubs, frameworks, and code that Python
/// generates for perf. Where debug information is missing, the framework's function that a lambda
/// was inlined into may be the only one that shows which lambda it is.
bool is_wrapper(const Symbol& symbol, std::string_view function, const NotThePrograms& others) {
  const bool stands_for_lambda =
      !symbol.from_debug_info && function.find("{lambda") != function.npos;
  return symbol.stub || function.starts_with("py::") ||
         (others.is_wrapper(function) && !stands_for_lambda);
}

/// "libopenblas.so.0" and "libopenblas-r0-0cf96a72.3.23.so" -> "libopenblas".
std::string library_name(std::string_view file) {
  return std::string(file.substr(0, std::min(file.find(".so"), file.find_first_of("-."))));
}

/// A loop may read the clock between its tests, and still only wait.
bool tells_time(std::string_view function) {
  constexpr std::string_view kClocks[] = {"clock_gettime", "gettimeofday", "clock", "time"};
  return std::find(std::begin(kClocks), std::end(kClocks), function) != std::end(kClocks);
}

/// MPI's functions are calls of the program, even if no record says so, since they never wait.
/// Returns their name in the standard; empty if this is none of them.
std::string mpi_call(const Symbol& symbol, const SourceFrame& source) {
  const std::string_view name = source.function;
  if (!symbol.stub && !symbol.module.starts_with("libmpi")) return "";
  return trace::mpi_call(name) != nullptr ? std::string(trace::name_to_programs(name)) : "";
}

/// Whether the code is from a header that culprit or NVTX gives to programs: it is not their own.
bool is_for_tools(const SourceFrame& source) {
  const std::string_view function = source.function;
  const bool nvtx = function.starts_with("nvtxRange") || function.starts_with("nvtxDomainRange") ||
                    function.starts_with("nvtx3::");
  return nvtx || source.file == "culprit.h" || source.file == "culprit.f90";
}

/// Whether the function yields the core of a thread that has nothing to do.
bool gives_core_away(const Symbol& symbol) {
  std::string_view function = symbol.frames.back().function;
  for (const std::string_view prefix : {"__GI_", "__"}) {  // the C library's own names for it
    if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  }
  return function == "sched_yield" || function == "thrd_yield" || function == "pthread_yield";
}

bool waits_for_memory(const Symbol& symbol, const NotThePrograms& others) {
  return std::any_of(symbol.frames.begin(), symbol.frames.end(),
                     [&](const SourceFrame& frame) { return others.is_spin_wait(frame.function); });
}

bool is_outlined(std::string_view function) {
  return std::any_of(kOutlined.begin(), kOutlined.end(), [function](std::string_view mark) {
    return function.find(mark) != std::string_view::npos;
  });
}

}  // namespace

ProcessCode::ProcessCode(const RawProcessFolder& folder)
    : map_(AddressMap::read(
          folder.maps, find_generated_code(folder.process.pid, folder.process.first.realtime_ns,
                                           folder.maps, folder.folder))) {}

void ProcessCode::announce(const Survey& survey, Symbols& symbols) const {
  // A return address may be the first byte of the next function: the call lies before it.
  for (const uint64_t address : survey.addresses) {
    if (address >= trace::kRawPythonFrame) continue;
    if (const auto place = map_.find(address - 1)) symbols.add(*place);
  }
}

void ProcessCode::learn(const Survey& survey, const Symbols& symbols, const NotThePrograms& others,
                        Regions& regions) {
  for (const uint64_t address : survey.addresses) {
    if (address >= trace::kRawPythonFrame) {
      learn_python(address, survey, others, regions);
    } else {
      learn_address(address, symbols, others, regions);
    }
  }
}

/// nullptr if it is known.
Code* ProcessCode::learn_code(uint64_t address, const Symbol& symbol) {
  const uint32_t at = places_.at(address, static_cast<uint32_t>(code_.size()));
  if (at < code_.size()) return nullptr;
  Code& code = code_.emplace_back();
  code.symbol = &symbol;
  code.site = std::hash<std::string>{}(symbol.module) ^ (symbol.address + 1) * 0x9e3779b97f4a7c15u;
  return &code;
}

void ProcessCode::learn_python(uint64_t address, const Survey& survey, const NotThePrograms& others,
                               Regions& regions) {
  const auto number =
      static_cast<uint32_t>((address - trace::kRawPythonFrame) >> trace::kRawPythonNumberShift);
  const auto described = survey.python.find(number);
  if (described == survey.python.end()) return;
  const auto [symbol, fresh] = python_.try_emplace(number);
  if (fresh) {
    const PythonCode& function = described->second;
    symbol->second.frames.push_back({function.name, function.file, function.line});
    std::string& name = symbol->second.frames.front().function;
    std::replace(name.begin(), name.end(), '/', '|');
    symbol->second.module = "Python";
    symbol->second.named = true;
  }
  Code* const code = learn_code(address, symbol->second);
  if (code == nullptr) return;
  const SourceFrame& source = symbol->second.frames.front();
  // Numbers are the process's own: processes agree on names and offsets.
  const uint64_t offset = address & ((uint64_t{1} << trace::kRawPythonNumberShift) - 1);
  code->site = std::hash<std::string>{}(source.file + ':' + source.function) ^
               ((uint64_t{source.line} << 32 | offset) + 1) * 0x9e3779b97f4a7c15u;
  CodeFrame frame;
  const trace::PythonModule& module = described->second.module;
  const LibraryUse use = use_of("", module, true, others);
  frame.kind = use.kind;
  frame.shown = use.shown;
  code->library = module.name;
  if (stands_between(source.file)) frame.kind = CodeKind::system;
  frame.imports = described->second.imports;
  frame.python_entry = is_python_entry(source);
  frame.python_threads = is_of_python_threads(source);
  if (frame.kind == CodeKind::user || frame.kind == CodeKind::framework) {
    frame.region = regions.function(source);
  }
  code->frames.push_back(frame);
}

void ProcessCode::learn_address(uint64_t address, const Symbols& symbols,
                                const NotThePrograms& others, Regions& regions) {
  const auto place = map_.find(address - 1);
  const Symbol* symbol = place ? symbols.find(*place) : nullptr;
  if (symbol == nullptr) return;
  Code* const learned = learn_code(address, *symbol);
  if (learned == nullptr) return;
  Code& code = *learned;
  const trace::PythonModule python = trace::python_module(place->module);
  const std::string& extension = python.name;
  const LibraryUse use = use_of(symbol->module, python, false, others);
  const CodeKind module = use.kind;
  code.library = extension.empty() ? library_name(symbol->module) : extension;
  for (SourceFrame source : symbol->frames) {
    CodeFrame frame;
    if (!extension.empty() && !symbol->named) source.function = extension;
    frame.kind = module;
    frame.shown = use.shown;
    if (module == CodeKind::user && is_outlined(source.function)) frame.kind = CodeKind::outlined;
    const bool may_be_named = module == CodeKind::user || module == CodeKind::framework;
    if (may_be_named && is_wrapper(*symbol, source.function, others)) {
      frame.kind = CodeKind::system;
      frame.wrapper = true;
    }
    if (frame.kind == CodeKind::user && NotThePrograms::is_of_device_runtime(source.function)) {
      frame.kind = CodeKind::device_runtime;
    }
    if (is_for_tools(source)) frame.kind = CodeKind::collector;
    if (const std::string call = mpi_call(*symbol, source); !call.empty()) {
      frame.kind = CodeKind::user;
      frame.region = regions.mpi(call);
    }
    frame.named = symbol->named;
    frame.start = source.function == "_start";
    frame.program = symbol->program && code.frames.empty();
    const bool is_code = frame.kind == CodeKind::user || frame.kind == CodeKind::framework;
    if (is_code && !frame.start && !frame.region.valid()) {
      frame.region = regions.function(source);
    }
    code.frames.push_back(frame);
  }
  code.own = module == CodeKind::user &&
             std::any_of(code.frames.begin(), code.frames.end(), [](const CodeFrame& frame) {
               return frame.kind == CodeKind::user && frame.region.valid();
             });
  code.waits = module == CodeKind::user && waits_for_memory(*symbol, others);
  if (code.waits || gives_core_away(*symbol)) {
    code.spins = regions.spinning({});
  } else if (symbol->spins && code.own) {
    code.spins = regions.spinning(*symbol);
  }
}

void ProcessCode::renumber(const std::vector<RegionId>& number) {
  const auto change = [&](RegionId& region) {
    if (region.valid()) region = number[region.index()];
  };
  for (Code& code : code_) {
    change(code.spins);
    for (CodeFrame& frame : code.frames) change(frame.region);
  }
}

const Code& ProcessCode::before(uint64_t return_address) const {
  static const Code kNothing;
  const uint32_t at = places_.find(return_address);
  return at == FlatMap::kNone ? kNothing : code_[at];
}

uint64_t ProcessCode::site(uint64_t return_address) const {
  const uint64_t known = before(return_address).site;
  return known != 0 ? known : return_address | 1;
}

void Paths::define(uint32_t id, uint32_t parent, uint64_t address) {
  // Parents come before their children; anything else is garbage, and might even be a circle.
  if (parent < id) nodes_[id] = {parent, address};
}

std::vector<uint64_t> Paths::addresses_of(uint32_t id) const {
  std::vector<uint64_t> addresses;
  for (uint32_t at = id; at != 0;) {
    const auto node = nodes_.find(at);
    if (node == nodes_.end()) break;
    addresses.push_back(node->second.address);
    at = node->second.parent;
  }
  std::reverse(addresses.begin(), addresses.end());
  return addresses;
}

std::vector<CodeFrame> Paths::frames_of(std::span<const uint64_t> addresses) const {
  addresses = without_what_spins(addresses);
  std::vector<CodeFrame> frames;
  const Code* last = nullptr;
  for (const uint64_t address : addresses) {
    const Code& code = code_.before(address);
    last = &code;
    // The function and what was split off it are one call.
    const bool goes_on = !frames.empty() && !code.frames.empty() && code.symbol->part &&
                         frames.back().region.valid() &&
                         frames.back().region == code.frames.front().region;
    if (goes_on) frames.pop_back();
    for (CodeFrame frame : code.frames) {
      frame.site = code_.site(address);
      frame.code = &code;
      frames.push_back(frame);
    }
    if (code.waits) break;
  }
  if (last == nullptr || !(last->waits || in_spinning(addresses))) return frames;
  CodeFrame& spins = frames.emplace_back();
  spins.region = last->spins;
  spins.site = code_.site(addresses.back());
  return frames;
}

/// Without what a loop that looks at memory has called, if the program's last function is in one:
/// such a loop calls only what lets time pass.
std::span<const uint64_t> Paths::without_what_spins(std::span<const uint64_t> addresses) const {
  for (size_t i = addresses.size(); i-- > 0;) {
    const Code& code = code_.before(addresses[i]);
    if (code.own) return code.spins.valid() ? addresses.first(i + 1) : addresses;
  }
  return addresses;
}

/// Whether the last is in a loop of the program's that looks at memory, or gives its core away for
/// one. Libraries have waits of their own, which other records cover.
bool Paths::in_spinning(std::span<const uint64_t> addresses) const {
  const Code& last = code_.before(addresses.back());
  if (!last.spins.valid()) return false;
  // Between the program and the call there may be stand-ins in front of it.
  bool is_own = last.own;
  for (size_t i = addresses.size() - 1; i > 0 && !is_own; --i) {
    const Code& caller = code_.before(addresses[i - 1]);
    is_own = caller.own;
    if (caller.frames.empty() || caller.frames.back().kind != CodeKind::collector) break;
  }
  return is_own;
}

/// Drops the frames that start the program or the thread, down to main or the thread's function.
void Paths::drop_entry(std::vector<CodeFrame>& frames) {
  // Threads that the program makes begin in a function of the collector.
  const auto is_system = [](const CodeFrame& frame) {
    return frame.kind == CodeKind::system || frame.kind == CodeKind::device_runtime ||
           frame.kind == CodeKind::collector;
  };
  const bool started =
      frames.size() > 1 && is_system(frames[1]) && (frames[0].start || !frames[0].named);
  const auto begin = std::find_if_not(frames.begin() + (started ? 1 : 0), frames.end(), is_system);
  frames.erase(frames.begin(), begin);
  if (started && !frames.empty() && !frames[0].named) {
    frames[0].region = regions_.function({"main", "", 0});
  }
  auto program = std::find_if_not(frames.begin(), frames.end(),
                                  [](const CodeFrame& frame) { return frame.python_entry; });
  // What the entry does itself is no function of the program, and does not begin the thread.
  const bool is_entrys = program == frames.end() || program->python_threads;
  if (is_entrys && program != frames.begin()) --program;
  frames.erase(frames.begin(), program);
  // A Fortran compiler's main is not the user's; the program that it calls is.
  if (frames.size() > 1 && frames[1].program) frames.erase(frames.begin());
}

namespace {

/// The function that compilers generate on the host for each kernel has the kernel's name, and only
/// calls another, whose name has the kernel's at its end.
void drop_stubs(std::vector<CodeFrame>& frames) {
  constexpr std::string_view kStub = "__device_stub_";
  for (size_t i = 1; i < frames.size(); ++i) {
    if (frames[i].kind != CodeKind::device_runtime || frames[i - 1].kind != CodeKind::user)
      continue;
    const auto is_stub_of = [&](const SourceFrame& stub, const SourceFrame& kernel) {
      return stub.function.starts_with(kStub) &&
             readable_name(stub.function.substr(kStub.size())) == kernel.function;
    };
    const std::vector<SourceFrame>& before = frames[i - 1].code->symbol->frames;
    const std::vector<SourceFrame>& here = frames[i].code->symbol->frames;
    const bool is_kernel = std::any_of(here.begin(), here.end(), [&](const SourceFrame& stub) {
      return is_stub_of(stub, before.back());
    });
    if (is_kernel) frames[i - 1].kind = CodeKind::device_runtime;
  }
}

/// The runtime calls the body of a construct. If that function has a name that no compiler gives to
/// bodies, the body called it last, by a jump.
bool is_nameless_body(const std::vector<CodeFrame>& frames, size_t i) {
  return i > 0 && frames[i - 1].kind == CodeKind::openmp_runtime && !frames[i].named;
}

}  // namespace

const UserPath& Paths::user_path(uint32_t id) {
  const uint32_t at = places_.at(id, static_cast<uint32_t>(known_.size()));
  if (at < known_.size()) return known_[at];
  return known_.emplace_back(cut(frames_of(addresses_of(id)), false));
}

const UserPath& Paths::starting_path(uint32_t id) {
  const auto [known, added] = starting_.try_emplace(id);
  if (added) known->second = cut(frames_of(addresses_of(id)), true);
  return known->second;
}

UserPath Paths::path_of(std::span<const uint64_t> addresses, bool starting) {
  return cut(frames_of(addresses), starting);
}

/// The function of a library in which the program's functions, the first `own` of these frames,
/// spend their time; none if that is not informative. Of several libraries it is the innermost, but
/// for those that are called by an address: they do work for the one before them.
RegionId Paths::part_in_library(std::span<const CodeFrame> frames, size_t own) {
  size_t chosen = 0;
  bool directly = true;  // from the program
  for (size_t i = own; i < frames.size(); ++i) {
    const CodeFrame& frame = frames[i];
    if (frame.imports) return regions_.importing(frame.code->library);
    if (frame.kind == CodeKind::openmp_runtime) break;
    if (frame.kind == CodeKind::collector) {
      if (chosen > 0 && frames[chosen].shown != Shown::always) return {};
      break;
    }
    const bool enters = i == own || frame.code->library != frames[i - 1].code->library;
    const bool shown = frame.shown == Shown::always || (frame.shown == Shown::called && directly);
    const bool is_named = !frames[i - 1].code->symbol->calls.empty();
    if (enters && shown && (chosen == 0 || is_named)) chosen = i;
    directly = directly && frame.wrapper;
  }
  if (chosen == 0) return {};
  const CodeFrame& entered = frames[chosen];
  std::string function = readable_name(frames[chosen - 1].code->symbol->calls);
  if (function.empty() && entered.named) function = entered.code->symbol->frames.front().function;
  const bool always = entered.shown == Shown::always;
  if (!always && (function.empty() || tells_time(function))) return {};
  return regions_.in_library(function, always ? entered.code->library : "");
}

namespace {

/// A framework that the program has called works for it; else it is named like the program.
void decide_frameworks(std::vector<CodeFrame>& frames) {
  CodeKind kind = CodeKind::user;
  for (CodeFrame& frame : frames) {
    if (frame.kind == CodeKind::user && frame.region.valid()) kind = CodeKind::system;
    if (frame.kind == CodeKind::framework) frame.kind = kind;
  }
}

}  // namespace

UserPath Paths::cut(std::vector<CodeFrame> frames, bool starting) {
  UserPath path;
  drop_entry(frames);
  drop_stubs(frames);
  decide_frameworks(frames);
  const auto is_own = [](const CodeFrame& frame) {
    return frame.kind == CodeKind::user || frame.kind == CodeKind::outlined;
  };
  size_t own = frames.size();
  while (own > 0 && !is_own(frames[own - 1])) --own;
  const bool starts_up =
      starting && own > 0 &&
      std::any_of(frames.begin() + static_cast<ptrdiff_t>(own), frames.end(),
                  [](const CodeFrame& frame) { return frame.kind == CodeKind::device_runtime; });
  const RegionId in_library = own > 0 && !starts_up ? part_in_library(frames, own) : RegionId();
  frames.resize(own);

  size_t begin = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].kind == CodeKind::openmp_runtime) begin = i + 1;
    if (frames[i].kind == CodeKind::outlined || is_nameless_body(frames, i)) begin = i + 1;
  }
  path.in_construct = begin > 0;
  if (begin > 0 && begin <= frames.size()) path.base_site = frames[begin - 1].site;
  for (size_t i = begin; i < frames.size(); ++i) {
    // What starts a program has no region; damaged paths and odd modules have it anywhere.
    if (frames[i].kind != CodeKind::user || !frames[i].region.valid()) continue;
    path.frames.push_back(frames[i].region);
    path.sites.push_back(frames[i].site);
  }
  if (starts_up) {
    path.frames.push_back(regions_.device_start_up(trace::Paradigm::cuda));
    path.sites.push_back(0);
  }
  if (in_library.valid()) {
    path.frames.push_back(in_library);
    path.sites.push_back(0);
    path.in_library = true;
  }
  return path;
}

}  // namespace culprit::assemble
