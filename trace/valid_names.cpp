// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/valid_names.h"

#include "base/printable.h"

namespace culprit::trace {
namespace {

void make_valid(std::string& text) {
  if (!is_utf8(text)) text = valid_utf8(text);
}

template <class Named>
void make_names_valid(std::vector<Named>& all) {
  for (Named& each : all) make_valid(each.name);
}

}  // namespace

void make_names_valid(Definitions& definitions) {
  for (Region& region : definitions.regions) {
    if (region.name.empty()) region.name = kUnnamed;
    make_valid(region.file);
  }
  for (Process& process : definitions.processes) make_valid(process.node);
  for (Device& device : definitions.devices) {
    make_valid(device.node);
    make_valid(device.identity);
  }
  for (Metric& metric : definitions.metrics) make_valid(metric.unit);
  for (auto& [key, value] : definitions.properties) {
    make_valid(key);
    make_valid(value);
  }
  make_names_valid(definitions.regions);
  make_names_valid(definitions.locations);
  make_names_valid(definitions.processes);
  make_names_valid(definitions.devices);
  make_names_valid(definitions.comms);
  make_names_valid(definitions.windows);
  make_names_valid(definitions.files);
  make_names_valid(definitions.grids);
  make_names_valid(definitions.graphs);
  make_names_valid(definitions.metrics);
  make_valid(definitions.program);
  make_valid(definitions.creator);
}

}  // namespace culprit::trace
