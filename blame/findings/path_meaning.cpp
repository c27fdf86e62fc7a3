// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Of constructs the model has the name say which one it is: findings do not keep roles.
#include "blame/findings/path_meaning.h"

#include <algorithm>

#include "trace/device_apis.h"
#include "trace/device_calls.h"
#include "trace/openmp_names.h"

namespace culprit::blame {

namespace {

/// "parallel for" of "!$omp parallel for @a.c:7"; empty for all that is no construct.
std::string_view construct_of(const FoundCallPath& path) {
  if (!is_of(path, trace::Paradigm::openmp)) return {};
  const std::string_view name = trace::name_of_construct(path.region);
  return name.substr(0, name.find('@'));
}

}  // namespace

void set_model_by_name(FoundCallPath& path) {
  trace::Paradigm model = trace::Paradigm::user;
  if (trace::mpi_call(path.region) != nullptr) model = trace::Paradigm::mpi;
  if (trace::is_construct(path.region)) model = trace::Paradigm::openmp;
  if (trace::waits_for_devices(path.region)) {
    const trace::DeviceApiText* const api = trace::device_api_of_call(path.region);
    if (api != nullptr) model = api->paradigm;
  }
  path.model = trace::to_string(model);
}

bool is_of_device(const FoundCallPath& path) {
  return std::any_of(trace::kDeviceApis.begin(), trace::kDeviceApis.end(),
                     [&](const trace::DeviceApiText& api) { return is_of(path, api.paradigm); });
}

bool is_parallel(const FoundCallPath& path) {
  return construct_of(path).starts_with("parallel");
}

bool is_team_barrier(const FoundCallPath& path) {
  return construct_of(path).find("barrier") != std::string_view::npos;
}

bool is_task_wait(const FoundCallPath& path) {
  return construct_of(path).find("taskwait") != std::string_view::npos;
}

std::vector<CallPathId> outermost_regions(const Findings& findings) {
  std::vector<CallPathId> regions(findings.callpaths.size());
  for (size_t i = 0; i < regions.size(); ++i) {  // parents come first
    const CallPathId parent = findings.callpaths[i].parent;
    if (parent.valid()) regions[i] = regions[parent.index()];
    if (!regions[i].valid() && is_parallel(findings.callpaths[i])) regions[i] = CallPathId(i);
  }
  return regions;
}

}  // namespace culprit::blame
