// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/process/fault_guard.h"
#include "collector/sampling/processes/descriptors.h"
#include "collector/sampling/processes/file_locks.h"
#include "collector/sampling/processes/shared_memory.h"
#include "collector/sampling/quick_exit.h"
#include "collector/sampling/sampler.h"
#include "collector/sampling/signals/confinement.h"
#include "collector/sampling/signals/signal_actions.h"
#include "collector/sampling/signals/signal_masks.h"
#include "collector/sampling/signals/signal_objects.h"
#include "collector/sampling/signals/system_call.h"
#include "collector/sampling/sleeps.h"
#include "collector/sampling/thread_waits.h"

namespace culprit::collector::sampling {

void load() {
  find_exit_calls();
  find_sleeping_calls();
  find_descriptor_calls();
  find_sharing_calls();
  find_lock_calls();
  find_thread_calls();
  find_locking_calls();
  find_c11_calls();
  find_action_calls();
  find_guard_calls();
  find_mask_calls();
  find_signal_calls();
  find_confining_calls();
  find_system_call();
}

}  // namespace culprit::collector::sampling
