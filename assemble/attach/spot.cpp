// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From the innermost frame outwards to the first that is the program's: what lies further inside is
// what it called. OpenMP's workers have no frame of the program while they wait for work.
#include "assemble/attach/spot.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "assemble/look/system_calls.h"
#include "assemble/names/cxx_library.h"
#include "assemble/stuck/futex_wait.h"
#include "trace/mpi_calls.h"

namespace culprit::assemble::attach {
namespace {

using look::CallSort;
using look::ThreadLook;

/// What a stack says.
struct Frames {
  std::string function, place;
  std::string mpi;
  bool openmp = false;  ///< its runtime is further inside than any of the program's functions
  bool spins = false;
  bool seen = false;  ///< some frame has a name
};

/// "main._omp_fn.0" -> "main": the place says which of its regions it is.
std::string without_outlining(std::string name) {
  constexpr std::string_view kMarks[] = {"._omp_fn.", ".omp_outlined", "..omp_par", ".omp_task"};
  for (const std::string_view mark : kMarks) {
    if (const size_t at = name.find(mark); at != name.npos && at > 0) name.resize(at);
  }
  return name;
}

/// False to go on outwards.
bool take_frame(const Code& here, size_t i, Frames& found) {
  const CodeFrame& frame = here.frames[i];
  const SourceFrame& source = here.symbol->frames[i];
  if (found.mpi.empty() && trace::mpi_call(source.function) != nullptr && frame.region.valid()) {
    found.mpi = trace::name_to_programs(source.function);
    return false;
  }
  if (frame.kind == CodeKind::openmp_runtime) found.openmp = true;
  const bool own = frame.kind == CodeKind::user || frame.kind == CodeKind::outlined;
  if (!own || frame.start || is_of_cxx_library(source)) return false;
  found.function = without_outlining(source.function);
  if (here.symbol->line != 0) {
    found.place = fmt::format("{}:{}", here.symbol->file, here.symbol->line);
  }
  return true;
}

Frames frames_of(const ThreadLook& thread, const ProcessCode& code) {
  Frames found;
  for (const uint64_t address : thread.stack) {
    const Code& here = code.before(address);
    if (here.symbol == nullptr) continue;
    found.seen = true;
    if (here.spins.valid() && found.function.empty()) found.spins = true;
    for (size_t i = std::min(here.frames.size(), here.symbol->frames.size()); i-- > 0;) {
      if (take_frame(here, i, found)) return found;
    }
  }
  return found;
}

Doing doing_in(CallSort sort) {
  switch (sort) {
    case CallSort::reads:
    case CallSort::writes:
    case CallSort::locks:
    case CallSort::opens:
      return Doing::file;
    case CallSort::child:
      return Doing::child;
    case CallSort::sleeps:
      return Doing::sleeps;
    case CallSort::polls:
      return Doing::events;
    case CallSort::futex:
      return Doing::thread;
    case CallSort::other:
      break;
  }
  return Doing::system;
}

void see_system_call(const ThreadLook& thread, const ProcessCode& code, SeenDoing& seen) {
  const look::SystemCall call = look::system_call(thread.call);
  seen.spot.doing = doing_in(call.sort);
  seen.spot.call = call.name;
  seen.spot.object = thread.object;
  if (call.sort != CallSort::futex) return;
  seen.spot.object.clear();
  const stuck::StackFacts facts = stuck::facts_of(code, thread.stack);
  if (facts.call != nullptr) seen.spot.call = facts.call->name;
  const stuck::ThreadWait wait = stuck::wait_of(thread, facts);
  const bool locks =
      wait.kind == stuck::ThreadWait::Kind::mutex || wait.kind == stuck::ThreadWait::Kind::rwlock;
  if (locks) seen.spot.doing = Doing::lock;
  seen.awaited = wait.owner;
}

}  // namespace

const char* to_words(Doing doing) {
  switch (doing) {
    case Doing::computes:
      return "computes";
    case Doing::mpi:
      return "is in MPI";
    case Doing::openmp:
      return "is in OpenMP's runtime";
    case Doing::lock:
      return "waits for a lock";
    case Doing::thread:
      return "waits for another thread";
    case Doing::spins:
      return "waits in a loop";
    case Doing::file:
      return "waits for input or output";
    case Doing::child:
      return "waits for a process";
    case Doing::sleeps:
      return "sleeps";
    case Doing::events:
      return "waits for events";
    case Doing::system:
      return "is in the system";
    case Doing::stopped:
      return "is stopped";
    case Doing::helper:
      return "serves a library";
    case Doing::unseen:
      break;
  }
  return "unseen";
}

SeenDoing doing_of(const ThreadLook& thread, const ProcessCode& code) {
  SeenDoing seen;
  seen.spot.on_core = thread.state == 'R';
  const Frames frames = frames_of(thread, code);
  seen.spot.function = frames.function;
  seen.spot.place = frames.place;
  if (thread.state == 'T' || thread.state == 't') {
    seen.spot.doing = Doing::stopped;
  } else if (!frames.mpi.empty()) {
    seen.spot.doing = Doing::mpi;
    seen.spot.call = frames.mpi;
  } else if (frames.openmp) {
    seen.spot.doing = Doing::openmp;
  } else if (frames.seen && stuck::facts_of(code, thread.stack).helper && frames.function.empty()) {
    seen.spot.doing = Doing::helper;
  } else if (frames.spins) {
    seen.spot.doing = Doing::spins;
  } else if (seen.spot.on_core) {
    seen.spot.doing = frames.seen ? Doing::computes : Doing::unseen;
    if (thread.call >= 0) seen.spot.call = look::system_call(thread.call).name;
  } else if (thread.call != look::kNotInACall) {
    see_system_call(thread, code, seen);
  }
  return seen;
}

bool is_idle(Doing doing) {
  return doing == Doing::openmp || doing == Doing::lock || doing == Doing::thread ||
         doing == Doing::spins;
}

bool is_work(const Spot& spot) {
  return spot.doing == Doing::computes || spot.doing == Doing::mpi || spot.doing == Doing::file ||
         spot.doing == Doing::sleeps || spot.doing == Doing::child || spot.doing == Doing::system;
}

}  // namespace culprit::assemble::attach
