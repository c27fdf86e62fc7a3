// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sampling probe: where threads are between their events, by a timer for each.
#pragma once

namespace culprit::collector::sampling {

/// Gives each recording thread a timer from now on, if the environment asks for samples.
void start();

}  // namespace culprit::collector::sampling
