// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The reason of a sleep is looked up when the call is over: the call was slow, so the lookup costs
// next to nothing beside it. All of it may happen in a signal handler.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/sampling/blocking_call.h"
#include "collector/sampling/no_cancellation.h"
#include "collector/sampling/processes/descriptors.h"
#include "collector/sampling/program_code.h"
#include "collector/sampling/stack_room.h"
#include "collector/user/names.h"

namespace culprit::collector::sampling {

namespace {

bool is_file(int descriptor) {
  struct stat what;
  if (fstat(descriptor, &what) != 0) return false;
  return S_ISREG(what.st_mode) || S_ISBLK(what.st_mode) || S_ISDIR(what.st_mode);
}

/// No data came: a timeout that was set for the descriptor was up, or it never lets threads wait.
Slept::In in_vain_on(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0 ? Slept::In::nothing : Slept::In::in_vain;
}

/// The last sleep of this thread in which it waited in vain. If it soon waits in the same call at
/// the same place, that counts as the same sleep, and what ends it as what all of it was for.
struct Slice {
  ThreadLog* log;
  const char* name;
  PathId path;
  uint64_t begin, end;

  bool goes_on(const ThreadLog* other, const char* call, PathId place, uint64_t time) const {
    return log == other && name == call && path == place && is_next_slice(begin, end, time);
  }
};
constinit thread_local Slice t_slice __attribute__((tls_model("initial-exec"))) = {};

void put_in_vain(ThreadLog& log, const char* name, PathId path, uint64_t begin, uint64_t end) {
  Slice& last = t_slice;
  const bool goes_on = last.goes_on(&log, name, path, begin) && log.prolong_blocked(last.end, end);
  if (!goes_on) {
    log.put_blocked(
        begin, raw::blocked{.path = static_cast<uint32_t>(path), .until = end, .begun = begin});
  }
  last = {&log, name, path, begin, end};
}

}  // namespace

uint64_t number_of_file(ThreadLog& log, int descriptor) {
  char link[32], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = descriptor >= 0 ? readlink(link, path, sizeof path) : -1;
  if (length <= 0 || static_cast<size_t>(length) == sizeof path) return trace::kRawNamelessFile;
  path[length] = 0;
  const char* const slash = strrchr(path, '/');
  const char* const base = slash != nullptr ? slash + 1 : path;
  const user::Name* const name = user::name_of_file(base, strlen(base));
  const StringId number = name != nullptr ? log.name(name->text) : StringId::none;
  return number != StringId::none ? static_cast<uint64_t>(number) : trace::kRawNamelessFile;
}

void say_slept(const Caller& caller, uint64_t begin, uint64_t end, const char* name, Slept slept) {
  const KeepErrno keep;
  if (slept.in_vain) slept.in = in_vain_on(slept.descriptor);
  if (slept.in == Slept::In::nothing) return;
  if (selection::is_off() || !is_same_process()) return;
  if (is_collectors_code(caller.code) || !has_room()) return;
  const NoCancellation stays;
  ThreadLog* const log = lifecycle::watched_log();
  if (log == nullptr || !is_to_be_recorded(*log, caller.cfa)) return;
  const PathId path = log->path_above(caller.cfa);
  // Waits of MPI and device libraries are their own affair: they count as time of their caller.
  const bool by_program = is_called_by_program(caller.cfa);
  if (slept.in == Slept::In::in_vain && by_program) {
    return put_in_vain(*log, name, path, begin, end);
  }
  if (slept.in == Slept::In::nap || slept.in == Slept::In::in_vain || !by_program) {
    return log->put_blocked(begin, end, StringId::none, path);
  }
  const bool of_file =
      slept.in == Slept::In::file || (slept.in == Slept::In::any && is_file(slept.descriptor));
  raw::blocked what = {.path = static_cast<uint32_t>(path),
                       .name = static_cast<uint16_t>(log->name(name)),
                       .until = end};
  if (of_file) {
    what.file = number_of_file(*log, slept.descriptor);
    what.bytes = slept.bytes;
  } else {
    what.object = slept.reads    ? object_to_read(slept.descriptor)
                  : slept.writes ? object_to_write(slept.descriptor)
                                 : slept.object;
  }
  const bool goes_on = !of_file && t_slice.goes_on(log, name, path, begin) &&
                       log->explain_blocked(t_slice.end, what);
  t_slice = {};
  if (!goes_on) log->put_blocked(begin, what);
}

}  // namespace culprit::collector::sampling
