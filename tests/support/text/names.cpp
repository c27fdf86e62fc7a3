// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tables of names against values; a name that is in none of them is a region of the program.
#include "tests/support/text/names.h"

#include "trace/device_apis.h"
#include "trace/mpi_calls.h"
#include "trace/openmp_names.h"

#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace culprit::trace {

namespace {

constexpr std::pair<std::string_view, CollectiveOp> kCollectives[] = {
    {"barrier", CollectiveOp::barrier},
    {"bcast", CollectiveOp::bcast},
    {"gather", CollectiveOp::gather},
    {"gatherv", CollectiveOp::gatherv},
    {"scatter", CollectiveOp::scatter},
    {"scatterv", CollectiveOp::scatterv},
    {"allgather", CollectiveOp::allgather},
    {"allgatherv", CollectiveOp::allgatherv},
    {"alltoall", CollectiveOp::alltoall},
    {"alltoallv", CollectiveOp::alltoallv},
    {"alltoallw", CollectiveOp::alltoallw},
    {"allreduce", CollectiveOp::allreduce},
    {"reduce", CollectiveOp::reduce},
    {"reduce_scatter", CollectiveOp::reduce_scatter},
    {"reduce_scatter_block", CollectiveOp::reduce_scatter_block},
    {"scan", CollectiveOp::scan},
    {"exscan", CollectiveOp::exscan},
    {"create_handle", CollectiveOp::create_handle},
    {"destroy_handle", CollectiveOp::destroy_handle},
    {"neighbor", CollectiveOp::neighbor},
    {"other", CollectiveOp::other},
};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

int64_t nanos_of_unit(std::string_view text) {
  double amount = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, amount);
  const std::string_view suffix(rest, static_cast<size_t>(end - rest));
  const double scale = suffix == "s" ? 1e9 : suffix == "ms" ? 1e6 : suffix == "us" ? 1e3 : 1;
  const double nanos = error == std::errc() ? amount * scale : 0;
  return nanos >= 1 && nanos <= 1e12 ? std::llround(nanos) : 0;
}

std::optional<CollectiveOp> collective_named(std::string_view name) {
  for (const auto& [text, op] : kCollectives) {
    if (text == name) return op;
  }
  return std::nullopt;
}

bool is_rooted(CollectiveOp op) {
  return op == CollectiveOp::bcast || op == CollectiveOp::gather || op == CollectiveOp::gatherv ||
         op == CollectiveOp::scatter || op == CollectiveOp::scatterv || op == CollectiveOp::reduce;
}

Region region_from_name(std::string_view name) {
  auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  Region region{std::string(name), RegionRole::function, Paradigm::user, {}, 0};
  if (mpi_call(name) != nullptr) {
    region.paradigm = Paradigm::mpi;
    region.role = role_of_mpi(name);
  } else if (starts_with(name, kConstruct)) {
    region.paradigm = Paradigm::openmp;
    region.role = has("implicit barrier") ? RegionRole::implicit_barrier
                  : has("barrier")        ? RegionRole::barrier
                  : has("parallel")       ? RegionRole::parallel
                  : has("taskwait")       ? RegionRole::task_wait
                  : has("end taskgroup")  ? RegionRole::task_wait
                  : has("taskgroup")      ? RegionRole::function
                  : has("task")           ? RegionRole::task
                  : has("body")           ? RegionRole::function
                  : has("masked")         ? RegionRole::function
                  : has("critical")       ? RegionRole::critical
                  : has("ordered")        ? RegionRole::critical
                  : has("atomic")         ? RegionRole::critical
                                          : RegionRole::worksharing;
  } else if (const DeviceApiText* api = device_api_of_call(name)) {
    region.paradigm = api->paradigm;
  } else if (starts_with(name, "copy ")) {
    region.role = RegionRole::data_transfer;
  } else if (starts_with(name, "omp_")) {
    region.paradigm = Paradigm::openmp;
    region.role = has("_lock") || has("_nest_lock") ? RegionRole::lock : RegionRole::function;
  }
  return region;
}

}  // namespace culprit::trace
