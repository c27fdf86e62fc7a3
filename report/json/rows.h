// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of findings as JSON objects, a key for each field (blame/findings/findings.def), in the
// table's order. Locations are named rank.thread, call paths by their regions joined with '/',
// counters by their names; what is lacking is null. The type of a column decides.
#pragma once

#include <initializer_list>
#include <vector>

#include <nlohmann/json.hpp>

#include "blame/findings/findings_fields.h"

namespace culprit::report {

using Json = nlohmann::ordered_json;

/// Turns values into what JSON has for them.
struct JsonValues {
  const blame::Findings& findings;

  Json operator()(CallPathId id) const {
    return id.valid() ? Json(findings.callpaths[id.index()].name) : Json();
  }
  Json operator()(LocationId id) const {
    return id.valid() ? Json(findings.locations[id.index()].name) : Json();
  }
  Json operator()(MetricId id) const { return findings.metrics[id.index()].name; }
  Json operator()(blame::FoundDeviceId id) const { return id.index(); }
  Json operator()(blame::FoundStuckId id) const { return id.index(); }
  Json operator()(blame::FoundModelId id) const { return id.index(); }
  template <Word E>
  Json operator()(const E& word) const {
    return to_string(word);
  }
  template <class T>
  Json operator()(const T& plain) const {
    return plain;
  }

  template <class Row>
  Json row(const Row& row) const {
    Json object = Json::object();
    blame::Table<Row>::columns(
        row, [&]<class Type>(const blame::Column<Type>& column, const auto& field) {
          Json& value = object[std::string(column.key)] = (*this)(field);
          if constexpr (Type::kMayLack) {
            if (blame::lacks(field)) value = nullptr;
          }
        });
    return object;
  }
  template <class Row>
  Json rows(const std::vector<Row>& list) const {
    Json array = Json::array();
    for (const Row& each : list) array.push_back(row(each));
    return array;
  }
};

/// An object with these keys before its others. Those that it lacks are null, to be filled.
inline Json with_first(std::initializer_list<const char*> keys, const Json& object) {
  Json ordered = Json::object();
  for (const char* key : keys) ordered[key] = nullptr;
  ordered.update(object);
  return ordered;
}

}  // namespace culprit::report
