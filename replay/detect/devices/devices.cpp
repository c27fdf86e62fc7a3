// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits between hosts and devices, one process at a time; other processes matter only where they
// keep a shared device busy. The first step finds when operations could begin (device_starts.h),
// from which the lives of streams follow; then come the waits of both sides. The time from when an
// operation could begin until it does is launch latency: no wait, because no location is late.
#include "base/parallel.h"
#include "replay/detect/devices/device_starts.h"

namespace culprit::replay {

namespace {

void build_lives(const DeviceStarts& of, const DevicesBusy& busy, Run& run) {
  for (size_t s = 0; s < of.process.streams.size(); ++s) {
    std::vector<Time> ready;
    ready.reserve(of.starts[s].size());
    for (const Start& start : of.starts[s]) ready.push_back(start.ready);
    const LocationId stream = of.process.streams[s];
    build_stream_life(run, stream, busy[device_of(*run.definitions, stream).index()], ready);
  }
}

}  // namespace

void detect_devices(Run& run, unsigned threads, Detection& out) {
  if (!has_streams(*run.definitions)) return;
  const DevicesBusy busy = devices_busy(run, threads);
  parallel_for(run.definitions->processes.size(), threads, [&](size_t p) {
    const DeviceStarts process = find_device_starts(run, ProcessId(p));
    if (process.process.streams.empty()) return;
    build_lives(process, busy, run);
    detect_stream_waits(process, busy, out);
    detect_host_waits(process, out);
  });
}

}  // namespace culprit::replay
