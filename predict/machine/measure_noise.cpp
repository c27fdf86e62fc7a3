// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads that watch the clock. All cores are watched at once, as a parallel program uses them: if
// only one were watched, the system would run on its idle neighbours.
#include <pthread.h>
#include <sched.h>

#include <barrier>
#include <chrono>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "base/ranks/exchange.h"
#include "predict/machine/detours.h"

namespace culprit::predict {
namespace {

Time now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Time::from_nanos(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

bool bind_to(uint32_t cpu) {
  cpu_set_t* set = CPU_ALLOC(cpu + 1);
  const size_t size = CPU_ALLOC_SIZE(cpu + 1);
  CPU_ZERO_S(size, set);
  CPU_SET_S(cpu, size, set);
  const bool bound = pthread_setaffinity_np(pthread_self(), size, set) == 0;
  CPU_FREE(set);
  return bound;
}

/// The processors that this process may use.
std::vector<uint32_t> usable_cpus() {
  std::vector<uint32_t> cpus;
  // The kernel refuses sets that are smaller than its own.
  for (uint32_t most = CPU_SETSIZE; cpus.empty() && most <= (1u << 16); most *= 2) {
    cpu_set_t* set = CPU_ALLOC(most);
    const size_t size = CPU_ALLOC_SIZE(most);
    if (sched_getaffinity(0, size, set) == 0) {
      for (uint32_t cpu = 0; cpu < most; ++cpu) {
        if (CPU_ISSET_S(cpu, size, set)) cpus.push_back(cpu);
      }
    }
    CPU_FREE(set);
  }
  return cpus;
}

/// A twentieth of the measurement, for the clock rate to rise.
NoiseSettings warm_up_of(const NoiseSettings& settings) {
  return {Duration::from_nanos(settings.measured.nanos() / 20 + settings.quantum.nanos()),
          settings.quantum};
}

std::vector<CoreRecord> watch_here(const std::vector<uint32_t>& cpus,
                                   const NoiseSettings& settings) {
  std::vector<CoreRecord> records(cpus.size());
  std::barrier start(static_cast<std::ptrdiff_t>(cpus.size()));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      const bool bound = bind_to(cpus[i]);
      start.arrive_and_wait();
      if (!bound) return;
      watch(cpus[i], warm_up_of(settings), now);
      records[i] = watch(cpus[i], settings, now);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::erase_if(records, [](const CoreRecord& each) { return each.readings.empty(); });
  return records;
}

/// Returns the rank's own processors, without those of earlier ranks on its node.
std::vector<uint32_t> share_of_cpus(Transport& ranks) {
  const std::vector<uint32_t> cpus = usable_cpus();
  Packer own;
  own.put(ranks.node());
  own.put_list(std::span(cpus));
  const auto all = gather_everywhere(ranks, own.take());
  std::set<uint32_t> taken;
  for (size_t r = 0; r < ranks.rank(); ++r) {
    Unpacker other(all[r]);
    if (other.get_string() != ranks.node()) continue;
    for (const uint32_t cpu : other.get_list<uint32_t>()) taken.insert(cpu);
  }
  std::vector<uint32_t> share;
  for (const uint32_t cpu : cpus) {
    if (!taken.contains(cpu)) share.push_back(cpu);
  }
  return share;
}

Parcel packed(const std::string& host, const std::vector<CoreRecord>& cores) {
  Packer packer;
  packer.put(host);
  packer.put(cores.size());
  for (const CoreRecord& core : cores) {
    packer.put(core.cpu);
    packer.put(core.measured);
    packer.put(core.step);
    packer.put_list(std::span(core.gaps));
    packer.put_list(std::span(core.readings));
  }
  return packer.take();
}

HostRecords unpacked(const Parcel& parcel) {
  Unpacker unpacker(parcel);
  HostRecords records{unpacker.get_string(), {}};
  for (auto left = unpacker.get<size_t>(); left > 0; --left) {
    CoreRecord& core = records.cores.emplace_back();
    unpacker.get_into(core.cpu);
    unpacker.get_into(core.measured);
    unpacker.get_into(core.step);
    core.gaps = unpacker.get_list<Duration>();
    core.readings = unpacker.get_list<uint64_t>();
  }
  return records;
}

}  // namespace

std::vector<HostRecords> watch_cores(Transport& ranks, const NoiseSettings& settings) {
  const std::vector<uint32_t> cpus = share_of_cpus(ranks);
  const std::vector<CoreRecord> cores = watch_here(cpus, settings);
  if (cpus.empty()) {
    // A rank without processors to watch must not wait for the others in MPI, which would use their
    // cores.
    const Duration all = settings.measured + warm_up_of(settings).measured;
    std::this_thread::sleep_for(std::chrono::nanoseconds(all.nanos() * 11 / 10));
  }
  std::vector<HostRecords> hosts;
  for (const Parcel& parcel : gather(ranks, packed(ranks.node(), cores))) {
    if (!parcel.empty()) hosts.push_back(unpacked(parcel));
  }
  return hosts;
}

}  // namespace culprit::predict
