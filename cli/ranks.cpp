// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Texts go from the first to all, by the transport that replay uses too. Copies that were given
// different folders say so before they begin.
#include "cli/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/ranks/agree.h"
#include "base/ranks/exchange.h"
#include "cli/installation.h"
#include "trace/otf2/reader.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<Launched> launched_by(const std::function<const char*(const char*)>& get) {
  const auto count = [&](const char* name) {
    const char* value = get(name);
    return value != nullptr ? static_cast<size_t>(std::max(std::atoi(value), 1)) : 1;
  };
  if (const size_t n = count("OMPI_COMM_WORLD_SIZE"); n > 1) return Launched{"openmpi", n};
  if (const size_t n = count("PMI_SIZE"); n > 1) return Launched{"mpich", n};
  const size_t n = count("SLURM_STEP_NUM_TASKS");
  if (n == 1) return Launched{};
  if (get("PMIX_RANK") != nullptr) return Launched{"openmpi", n};
  if (get("PMI_RANK") != nullptr || get("PMI_FD") != nullptr) return Launched{"mpich", n};
  return Error{
      "srun started several copies of culprit that cannot communicate: add --mpi=pmix (Open MPI) "
      "or --mpi=pmi2 (MPICH), or give each copy its own trace and --alone"};
}

Result<std::unique_ptr<Transport>> open_ranks(bool alone) {
  const auto launched = launched_by(
      [alone](const char* name) -> const char* { return alone ? nullptr : std::getenv(name); });
  if (!launched) return launched.error();
  const std::string& launcher = launched.value().mpi;
  if (launcher.empty()) return std::unique_ptr<Transport>(new Alone);
  const fs::path library = library_folder() / ("libculprit-ranks-" + launcher + ".so");
  // Open MPI's components look up its symbols in the global scope.
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    return Error{fmt::format(
        "the launcher started several copies of culprit, which need culprit's library for {} to "
        "communicate, but it cannot be loaded ({}): build culprit with that MPI, or add --alone",
        launcher == "openmpi" ? "Open MPI" : "MPICH", dlerror())};
  }
  using Open = Transport*();
  auto* open = reinterpret_cast<Open*>(dlsym(opened, "culprit_open_ranks"));
  if (open == nullptr) return Error{"'" + library.string() + "' is not a library of culprit"};
  std::unique_ptr<Transport> ranks(open());
  if (ranks->size() != launched.value().copies) {
    return Error{fmt::format(
        "the launcher started {} copies of culprit, but the MPI that culprit was built with sees "
        "{}: use that MPI's launcher, or give each copy its own trace and --alone",
        launched.value().copies, ranks->size())};
  }
  return ranks;
}

Result<void> check_same(Transport& ranks, const std::string& arguments) {
  const std::vector<std::string> all = gather_texts(ranks, arguments);
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    return Error{fmt::format(
        "the copies of culprit that were started together have different arguments ({}; "
        "{}), but they share the analysis of one trace. With --alone, each works on its "
        "own",
        all[0], all[r])};
  }
  return {};
}

void TaskForOthers::tell(const Task& task) {
  if (std::exchange(told_, true)) return;
  Packer packer;
  packer.put(task.what);
  packer.put(task.place.string());
  share_of_first(ranks_, packer.take());
}

Task wait_for_task(Transport& ranks) {
  const Parcel parcel = share_of_first(ranks, {});
  Unpacker unpacker(parcel);
  const auto what = unpacker.get<Task::What>();
  return {what, unpacker.get_string()};
}

Result<std::unique_ptr<trace::Source>> open_together(Transport& ranks, const fs::path& archive,
                                                     Losses& losses) {
  Losses counted_by_first;
  auto source = trace::open_otf2(archive, ranks.rank() == 0 ? losses : counted_by_first);
  if (auto all = first_error(ranks, source ? "" : source.error().sentence); !all) {
    return all.error();
  }
  return source;
}

unsigned threads_for(Transport& ranks, unsigned requested) {
  if (ranks.alone() || requested != 0) return requested;
  cpu_set_t bound;
  CPU_ZERO(&bound);
  if (sched_getaffinity(0, sizeof bound, &bound) != 0) return 0;
  std::string place = ranks.node();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) place += CPU_ISSET(cpu, &bound) ? '1' : '0';
  const std::vector<std::string> places = gather_texts(ranks, place);
  const auto here = static_cast<unsigned>(std::count(places.begin(), places.end(), place));
  return std::max(1u, static_cast<unsigned>(CPU_COUNT(&bound)) / here);
}

}  // namespace culprit::cli
