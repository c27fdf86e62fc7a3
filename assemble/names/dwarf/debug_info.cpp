// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Not all compilers write the index of units that DWARF provides (.debug_aranges), and it has none
// of functions, so both are made here from the entries themselves.
#include "assemble/names/dwarf/debug_info.h"

#include <algorithm>

#include "assemble/names/cxx_library.h"
#include "assemble/names/dwarf/dwarf_entry.h"
#include "assemble/names/open_object.h"

namespace culprit::assemble {
namespace {

constexpr const char* kAnonymous = "(anonymous namespace)";

/// A lambda's file and line say more.
std::string without_anonymous(std::string name) {
  const std::string scope = std::string(kAnonymous) + "::";
  for (size_t at = name.find(scope); at != name.npos; at = name.find(scope, at)) {
    name.erase(at, scope.size());
  }
  return name;
}

bool is_class(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

void find_line(Dwarf_Die* unit, uint64_t code, Symbol& symbol) {
  Dwarf_Line* line = dwarf_getsrc_die(unit, code);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return;
  const char* file = dwarf_linesrc(line, nullptr, nullptr);
  if (file == nullptr) return;
  symbol.file = base_name(file);
  symbol.line = static_cast<uint32_t>(number);
}

/// Calls use(begin, end) for the code of an entry, piece by piece.
template <class Use>
void for_each_range(Dwarf_Die* die, const Use& use) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
    if (begin < end) use(begin, end);
  }
}

/// Without looking for the attribute elsewhere, which may open files.
std::string own_string(Dwarf_Die* die, unsigned kind) {
  Dwarf_Attribute attribute;
  const char* text =
      dwarf_attr(die, kind, &attribute) != nullptr ? dwarf_formstring(&attribute) : nullptr;
  return text != nullptr ? text : "";
}

/// Whether libdw would open a path that is no regular file as the one that the compiler has split
/// this unit's contents off into; its name is in the unit.
bool leads_astray(Dwarf_Die* unit, const std::vector<std::filesystem::path>& folders) {
  const std::string compiled_in = own_string(unit, DW_AT_comp_dir);
  for (const unsigned kind : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
    const std::string name = own_string(unit, kind);
    for (const std::filesystem::path& folder : folders) {
      if (!name.empty() && (is_trap(folder / name) || is_trap(folder / compiled_in / name))) {
        return true;
      }
    }
  }
  return false;
}

bool has_code(Dwarf_Die* die) {
  return dwarf_hasattr(die, DW_AT_low_pc) != 0 || dwarf_hasattr(die, DW_AT_ranges) != 0;
}

template <class Range>
void sort_by_address(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

/// The place is where `call` stands, as far as that is known.
void put_at_call(Dwarf_Die* call, Symbol& symbol) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  const char* file = file_in(call, DW_AT_call_file);
  if (file == nullptr || dwarf_attr(call, DW_AT_call_line, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &line) != 0) {
    return;
  }
  symbol.file = base_name(file);
  symbol.line = static_cast<uint32_t>(line);
}

/// If all functions inlined from the `depth`-th on are from C++'s library, the place becomes the
/// call of them in its user's code.
void leave_library(Dwarf_Die* call, size_t depth, Symbol& symbol) {
  if (depth < 2 || depth > symbol.frames.size()) return;
  const bool is_library =
      std::all_of(symbol.frames.begin() + static_cast<std::ptrdiff_t>(depth - 1),
                  symbol.frames.end(), is_of_cxx_library);
  if (is_library && !is_of_cxx_library(symbol.frames[depth - 2])) put_at_call(call, symbol);
}

bool is_artificial(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  bool is = false;
  return dwarf_attr_integrate(die, DW_AT_artificial, &attribute) != nullptr &&
         dwarf_formflag(&attribute, &is) == 0 && is;
}

/// clang makes a function of its own out of the body of an OpenMP construct. Its parameters are the
/// runtime's, none of which has a place in the source.
bool is_body_of_construct(Dwarf_Die* function) {
  Dwarf_Die child;
  Dwarf_Die origin = origin_of(*function);
  return dwarf_hasattr_integrate(&origin, DW_AT_object_pointer) == 0 &&
         dwarf_child(&origin, &child) == 0 && dwarf_tag(&child) == DW_TAG_formal_parameter &&
         is_artificial(&child);
}

/// Functions that compilers make (members of classes) or that stand for an instruction (intrinsics)
/// are shown as a part of their caller.
bool is_part_of_caller(Dwarf_Die* function) {
  return is_artificial(function) && !is_body_of_construct(function);
}

}  // namespace

DebugInfo::DebugInfo(Dwarf* dwarf, const std::vector<std::filesystem::path>& folders) {
  if (dwarf == nullptr) return;
  Dwarf_CU* cu = nullptr;
  Unit unit{};
  uint8_t type = 0;
  while (dwarf_get_units(dwarf, cu, &cu, nullptr, &type, &unit.die, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    if (type == DW_UT_skeleton && leads_astray(&unit.die, folders)) continue;
    dwarf_cu_info(cu, nullptr, nullptr, nullptr, &unit.content, nullptr, nullptr, nullptr);
    if (type == DW_UT_compile || unit.content.addr == nullptr) unit.content = unit.die;
    for_each_range(&unit.die, [this](uint64_t begin, uint64_t end) {
      ranges_.push_back({begin, end, units_.size()});
    });
    units_.push_back(unit);
  }
  sort_by_address(ranges_);
}

DebugInfo::Unit* DebugInfo::unit_at(uint64_t code) {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), code,
                       [](uint64_t at, const UnitRange& range) { return at < range.begin; });
  if (after == ranges_.begin() || code >= std::prev(after)->end) return nullptr;
  return &units_[std::prev(after)->unit];
}

/// Functions lie in namespaces and in modules, whose names are part of Fortran's linkage names.
void DebugInfo::index_functions(Dwarf_Die& parent, const std::string& scope, Unit& unit,
                                unsigned depth) {
  Dwarf_Die child;
  if (depth > kDeepest || dwarf_child(&parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) {
      for_each_range(&child, [&](uint64_t begin, uint64_t end) {
        unit.functions.push_back({begin, end, child});
      });
      if (!scope.empty() && linkage_name_of(&child) == nullptr) {
        unit.scopes.emplace(dwarf_dieoffset(&child), scope);
      }
    } else if (tag == DW_TAG_namespace) {
      const char* name = dwarf_diename(&child);
      index_functions(child, scope + (name != nullptr ? name : kAnonymous) + "::", unit, depth + 1);
    } else if (tag == DW_TAG_module) {
      index_functions(child, scope, unit, depth + 1);
    } else if (is_class(tag) && scope.find(kAnonymous) != scope.npos) {
      index_members(child, scope, unit, depth + 1);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

/// Members of classes in anonymous namespaces have no linkage name to say whose they are.
void DebugInfo::index_members(Dwarf_Die& parent, const std::string& scope, Unit& unit,
                              unsigned depth) {
  const char* const name = dwarf_diename(&parent);
  Dwarf_Die child;
  if (name == nullptr || depth > kDeepest || dwarf_child(&parent, &child) != 0) return;
  const std::string inside = scope + name + "::";
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram && linkage_name_of(&child) == nullptr) {
      unit.scopes.emplace(dwarf_dieoffset(&child), inside);
    } else if (is_class(tag)) {
      index_members(child, inside, unit, depth + 1);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

/// Functions inside of functions, that is where gfortran puts the bodies of parallel regions, and
/// of classes, where gcc puts those of lambdas. Asked only where no other function is found, since
/// this walks through everything.
void DebugInfo::index_nested(Dwarf_Die& parent, std::vector<FunctionRange>& functions,
                             unsigned depth) {
  Dwarf_Die child;
  if (depth > kDeepest || dwarf_child(&parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) {
      for_each_range(
          &child, [&](uint64_t begin, uint64_t end) { functions.push_back({begin, end, child}); });
    }
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
        tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_module ||
        tag == DW_TAG_structure_type || tag == DW_TAG_class_type) {
      index_nested(child, functions, depth + 1);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

SourceFrame DebugInfo::frame_of(const Unit& unit, Dwarf_Die* die) {
  if (const Lambdas::Lambda* lambda = lambdas_.find(*die)) {
    auto around = lambdas_.function_around(*lambda);
    const std::string name = around ? without_anonymous(frame_of(unit, &*around).function) : "";
    return {name_of_lambda(*lambda, name), lambda->file, lambda->line};
  }
  SourceFrame frame;
  if (const char* linkage_name = linkage_name_of(die)) {
    frame.function = readable_name(linkage_name);
  } else if (const char* name = string_of(die, DW_AT_name)) {
    Dwarf_Die origin = origin_of(*die);
    const auto scope = unit.scopes.find(dwarf_dieoffset(&origin));
    if (scope != unit.scopes.end()) frame.function = scope->second;
    frame.function += readable_name(name);
  }
  if (const char* file = file_in(die, DW_AT_decl_file)) {
    frame.file = base_name(file);
    // Members of classes that are inlined have no linkage name to say whose they are.
    const bool is_library = std::string_view(file).find("/include/c++/") != std::string_view::npos;
    if (is_library && !frame.function.empty() && !is_called_as_cxx_library(frame.function)) {
      frame.function.insert(0, "std::");
    }
  }
  int line = 0;
  if (dwarf_decl_line(die, &line) == 0) frame.line = static_cast<uint32_t>(line);
  lambdas_.name_arguments(*die, frame.function);
  return frame;
}

namespace {

/// gcc splits functions, so that their beginning can be inlined, and may put them together again:
/// then a function seems to be inlined into itself.
bool is_of_the_same(const Symbol& symbol, const SourceFrame& inlined) {
  if (symbol.frames.empty()) return false;
  const SourceFrame& around = symbol.frames.back();
  return around.function == inlined.function && around.file == inlined.file &&
         around.line == inlined.line;
}

}  // namespace

/// Appends the functions that were inlined at `code` into the function or block `parent`, from the
/// outermost on, without those that are artificial.
void DebugInfo::add_inlined(const Unit& unit, Dwarf_Die* parent, uint64_t code, Symbol& symbol,
                            unsigned depth) {
  Dwarf_Die child;
  if (depth > kDeepest || dwarf_child(parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
    const bool holds = dwarf_haspc(&child, code) == 1;
    // A block that says nothing of its code may still hold an inlined function that does.
    if (!holds && (tag != DW_TAG_lexical_block || has_code(&child))) continue;
    const bool is_call = tag == DW_TAG_inlined_subroutine;
    // gcc says that lambdas' bodies are artificial, too.
    const bool is_part = is_call && is_part_of_caller(&child) && lambdas_.find(child) == nullptr;
    bool is_pushed = false;
    if (is_call && !is_part) {
      SourceFrame frame = frame_of(unit, &child);
      is_pushed = !frame.function.empty() && !is_of_the_same(symbol, frame);
      if (is_pushed) symbol.frames.push_back(std::move(frame));
    }
    const size_t known = symbol.frames.size();
    add_inlined(unit, &child, code, symbol, depth + 1);
    if (is_part && symbol.frames.size() == known) put_at_call(&child, symbol);
    if (is_pushed) leave_library(&child, known, symbol);
    if (holds) return;
  } while (dwarf_siblingof(&child, &child) == 0);
}

bool DebugInfo::find_among(const std::vector<FunctionRange>& functions, uint64_t code,
                           Dwarf_Die& found) {
  auto at =
      std::upper_bound(functions.begin(), functions.end(), code,
                       [](uint64_t a, const FunctionRange& range) { return a < range.begin; });
  while (at != functions.begin()) {
    if (code >= (--at)->end) continue;
    found = at->die;
    return true;
  }
  return false;
}

bool DebugInfo::find_function(Unit& unit, uint64_t code, Dwarf_Die& found) {
  if (!unit.indexed) {
    unit.indexed = true;
    index_functions(unit.content, "", unit, 0);
    sort_by_address(unit.functions);
  }
  if (find_among(unit.functions, code, found)) return true;
  if (!unit.indexed_nested) {
    unit.indexed_nested = true;
    index_nested(unit.content, unit.nested, 0);
    sort_by_address(unit.nested);
  }
  return find_among(unit.nested, code, found);
}

bool DebugInfo::name(uint64_t code, Symbol& symbol) {
  Unit* const unit = unit_at(code);
  if (unit == nullptr) return false;
  find_line(&unit->die, code, symbol);
  Dwarf_Die function;
  if (!find_function(*unit, code, function)) return false;
  SourceFrame frame = frame_of(*unit, &function);
  if (!frame.function.empty()) symbol.frames.push_back(std::move(frame));
  symbol.program = dwarf_hasattr(&function, DW_AT_main_subprogram) != 0;
  add_inlined(*unit, &function, code, symbol, 0);
  return !symbol.frames.empty();
}

}  // namespace culprit::assemble
