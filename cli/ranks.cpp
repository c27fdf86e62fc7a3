// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/installation.h"
#include "replay/exchange.h"
#include "trace/otf2_reader.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> gather_texts(replay::Transport& ranks, const std::string& own) {
  replay::Packer packer;
  packer.put(own);
  std::vector<std::string> all;
  for (const replay::Parcel& parcel : replay::gather_everywhere(ranks, packer.take())) {
    all.push_back(replay::Unpacker(parcel).get_string());
  }
  return all;
}

}  // namespace

Result<std::string> launched_by(const std::function<const char*(const char*)>& get) {
  const auto several = [&](const char* count) {
    const char* value = get(count);
    return value != nullptr && std::atoi(value) > 1;
  };
  if (several("OMPI_COMM_WORLD_SIZE")) return std::string("openmpi");
  if (several("PMI_SIZE")) return std::string("mpich");
  if (!several("SLURM_STEP_NUM_TASKS")) return std::string();
  if (get("PMIX_RANK") != nullptr) return std::string("openmpi");
  if (get("PMI_RANK") != nullptr || get("PMI_FD") != nullptr) return std::string("mpich");
  return Error{
      "srun started culprit several times, but in a way that the copies cannot talk to each other: "
      "add --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH), or start it once"};
}

Result<std::unique_ptr<replay::Transport>> open_ranks() {
  const auto launched = launched_by([](const char* name) { return std::getenv(name); });
  if (!launched) return launched.error();
  const std::string& launcher = launched.value();
  if (launcher.empty()) return std::unique_ptr<replay::Transport>(new replay::Alone);
  const fs::path library = library_folder() / ("libculprit-ranks-" + launcher + ".so");
  // Open MPI's components look for its symbols among everybody's.
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    return Error{fmt::format(
        "the launcher started culprit several times, and for that its library on {} is needed, "
        "which cannot be opened ({}): build culprit where that MPI is, or start it once",
        launcher == "openmpi" ? "Open MPI" : "MPICH", dlerror())};
  }
  using Open = replay::Transport*();
  auto* open = reinterpret_cast<Open*>(dlsym(opened, "culprit_open_ranks"));
  if (open == nullptr) return Error{"'" + library.string() + "' is not culprit's"};
  return std::unique_ptr<replay::Transport>(open());
}

void TaskForOthers::tell(const fs::path& trace) {
  if (std::exchange(told_, true)) return;
  replay::Packer packer;
  packer.put(trace.string());
  replay::share_of_first(ranks_, packer.take());
}

fs::path wait_for_task(replay::Transport& ranks) {
  return replay::Unpacker(replay::share_of_first(ranks, {})).get_string();
}

Result<std::unique_ptr<trace::Source>> open_together(replay::Transport& ranks,
                                                     const fs::path& trace, Losses& losses) {
  Losses told_by_first;
  auto source = trace::open_otf2(trace, ranks.rank() == 0 ? losses : told_by_first);
  if (ranks.alone()) return source;
  const std::vector<std::string> wrong = gather_texts(ranks, source ? "" : source.error().sentence);
  const std::vector<std::string> nodes = gather_texts(ranks, ranks.node());
  for (size_t r = 0; r < wrong.size(); ++r) {
    if (!wrong[r].empty()) return Error{wrong[r] + " (seen from " + nodes[r] + ")"};
  }
  return source;
}

unsigned threads_for(replay::Transport& ranks, unsigned requested) {
  if (ranks.alone() || requested != 0) return requested;
  const std::vector<std::string> nodes = gather_texts(ranks, ranks.node());
  const auto here =
      static_cast<unsigned>(std::count(nodes.begin(), nodes.end(), nodes[ranks.rank()]));
  cpu_set_t bound;
  const unsigned all = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
  const unsigned own = sched_getaffinity(0, sizeof bound, &bound) == 0
                           ? static_cast<unsigned>(CPU_COUNT(&bound))
                           : all;
  return std::max(1u, own < all ? own : all / here);
}

}  // namespace culprit::cli
