// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// gcc puts a lambda's class with its function into the function around it; clang puts a declaration
// there, and the function elsewhere, with a reference to that declaration.
#include "assemble/names/dwarf/lambdas.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "assemble/names/symbol.h"

namespace culprit::assemble {
namespace {

constexpr std::string_view kBegin = "lambda at ";

std::string_view own_name(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  const char* name =
      dwarf_attr(&die, DW_AT_name, &attribute) != nullptr ? dwarf_formstring(&attribute) : nullptr;
  return name != nullptr ? name : "";
}

/// "operator()", or "operator()<int>" of a generic one.
bool is_call_operator(std::string_view name) {
  constexpr std::string_view kName = "operator()";
  return name == kName || (name.starts_with(kName) && name[kName.size()] == '<');
}

bool is_class(Dwarf_Die& die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/// Classes with a name have lambdas in it where these are their templates' arguments.
bool may_be_lambda(Dwarf_Die& die) {
  return is_class(die) && own_name(die).empty();
}

Lambdas::Lambda place_of(Dwarf_Die& type) {
  Lambdas::Lambda place;
  if (const char* file = file_in(&type, DW_AT_decl_file)) place.file = base_name(file);
  int line = 0;
  if (dwarf_decl_line(&type, &line) == 0) place.line = static_cast<uint32_t>(line);
  return place;
}

/// Without const, references and pointers. Nothing if there is no type.
std::optional<Dwarf_Die> plain_type(Dwarf_Die die) {
  constexpr int kMaxSteps = 16;  // damaged entries may form a circle
  for (int i = 0; i < kMaxSteps; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr ||
        dwarf_formref_die(&attribute, &type) == nullptr) {
      return std::nullopt;
    }
    const int tag = dwarf_tag(&type);
    const bool more = tag == DW_TAG_const_type || tag == DW_TAG_reference_type ||
                      tag == DW_TAG_rvalue_reference_type || tag == DW_TAG_pointer_type;
    if (!more) return type;
    die = type;
  }
  return std::nullopt;
}

/// The text to show for each argument of a template; empty: it stays as it is.
void list_arguments(Dwarf_Die& function, std::vector<std::string>& names) {
  for_each_child(&function, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_GNU_template_parameter_pack) list_arguments(child, names);
    if (tag == DW_TAG_template_value_parameter || tag == DW_TAG_GNU_template_template_param) {
      names.emplace_back();
    }
    if (tag != DW_TAG_template_type_parameter) return;
    auto type = plain_type(child);
    const Lambdas::Lambda place =
        type && may_be_lambda(*type) ? place_of(*type) : Lambdas::Lambda();
    names.push_back(place.line != 0 ? name_of_lambda(place, "") : "");
  });
}

struct Span {
  size_t begin, end;
};

/// The arguments in the last pair of angle brackets of a name; none if it does not end in one.
std::vector<Span> arguments_in(std::string_view name) {
  if (!name.ends_with('>')) return {};
  std::vector<Span> spans;
  size_t end = name.size() - 1;
  int depth = 1;
  for (size_t i = end; i-- > 0;) {
    const char c = name[i];
    const bool is_arrow = c == '>' && i > 0 && name[i - 1] == '-';
    if ((c == '>' && !is_arrow) || c == ')' || c == '}' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '{' || c == '[') --depth;
    if (depth > 1 || (depth == 1 && c != ',')) continue;
    spans.insert(spans.begin(), {i + 1, end});
    if (depth == 0) return spans;
    end = i;
  }
  return {};
}

}  // namespace

std::string name_of_lambda(const Lambdas::Lambda& lambda, const std::string& around) {
  return fmt::format("{}{}:{}{}{}", kBegin, lambda.file, lambda.line, around.empty() ? "" : " in ",
                     around);
}

bool names_lambda(const std::string& function) {
  return function.find(kBegin) != std::string::npos;
}

void Lambdas::index(Dwarf_Die& parent, const std::optional<Dwarf_Die>& around, OfUnit& lambdas,
                    unsigned depth) {
  if (depth > kDeepest) return;
  const bool in_lambda = may_be_lambda(parent);
  for_each_child(&parent, [&](Dwarf_Die& child) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        if (in_lambda && is_call_operator(own_name(child))) {
          Lambda lambda = place_of(parent);
          lambda.around = around;
          if (lambda.line != 0) lambdas.emplace(dwarf_dieoffset(&child), std::move(lambda));
        }
        return index(child, child, lambdas, depth + 1);
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_lexical_block:
      case DW_TAG_inlined_subroutine:
        return index(child, around, lambdas, depth + 1);
      default:
        return;
    }
  });
}

const Lambdas::Lambda* Lambdas::find(Dwarf_Die function) {
  Dwarf_Die origin = origin_of(function);
  if (!is_call_operator(own_name(origin))) return nullptr;
  Dwarf_Die unit;
  if (dwarf_diecu(&origin, &unit, nullptr, nullptr) == nullptr) return nullptr;
  const auto [known, fresh] = units_.try_emplace(unit.addr);
  if (fresh) index(unit, std::nullopt, known->second, 0);
  const auto lambda = known->second.find(dwarf_dieoffset(&origin));
  return lambda != known->second.end() ? &lambda->second : nullptr;
}

std::optional<Dwarf_Die> Lambdas::function_around(const Lambda& lambda) {
  constexpr int kMostNested = 16;
  const Lambda* inner = &lambda;
  for (int i = 0; i < kMostNested && inner->around; ++i) {
    const Lambda* const outer = find(*inner->around);
    if (outer == nullptr) return inner->around;
    inner = outer;
  }
  return std::nullopt;
}

void Lambdas::name_arguments(Dwarf_Die function, std::string& name) {
  if (!name.ends_with('>')) return;
  Dwarf_Die origin = origin_of(function);
  std::vector<std::string> arguments;
  list_arguments(origin, arguments);
  // clang lists them where the function is defined alone.
  if (arguments.empty()) list_arguments(function, arguments);
  const std::vector<Span> spans = arguments_in(name);
  if (spans.size() != arguments.size()) return;
  for (size_t i = spans.size(); i-- > 0;) {
    if (arguments[i].empty()) continue;
    const std::string_view before = std::string_view(name).substr(0, spans[i].begin);
    const std::string space = before.ends_with(',') ? " " : "";
    name.replace(spans[i].begin, spans[i].end - spans[i].begin, space + arguments[i]);
  }
}

}  // namespace culprit::assemble
