// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The complaint is kept per thread, because readers of different locations fail independently. Only
// the first counts: what follows it are OTF2's callers reporting the same on the way up.
#include "trace/otf2_library.h"

#include <otf2/OTF2_Pthread_Locks.h>

#include <mutex>
#include <utility>

namespace culprit::trace {

namespace {

thread_local std::string complaint;

OTF2_ErrorCode keep(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char*,
                    va_list) {
  if (complaint.empty()) complaint = OTF2_Error_GetDescription(code);
  return code;
}

}  // namespace

void silence_otf2() {
  static std::once_flag once;
  std::call_once(once, [] { OTF2_Error_RegisterCallback(keep, nullptr); });
}

std::string take_otf2_complaint() {
  return std::exchange(complaint, {});
}

void lock_otf2(OTF2_Reader* reader) {
  OTF2_Pthread_Reader_SetLockingCallbacks(reader, nullptr);
}
void lock_otf2(OTF2_Archive* archive) {
  OTF2_Pthread_Archive_SetLockingCallbacks(archive, nullptr);
}

}  // namespace culprit::trace
