// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What analysis ranks must know of processes whose records another one has read: how many threads
// and queues of devices they have, which communicators they made, when they compared clocks and let
// others go on. Their events, code and samples are not in it.
#pragma once

#include <cstddef>
#include <vector>

#include "assemble/device/devices.h"
#include "assemble/raw/reader.h"
#include "assemble/run/accounts.h"
#include "base/ranks/transport.h"

namespace culprit::assemble {

/// The tables of a run, by folder. Own entries are complete; of others there are the heads.
struct ProcessTables {
  std::vector<RawProcessFolder>& folders;
  std::vector<ProcessAccount>& accounts;
  std::vector<ProcessDevices>& devices;
};

/// Collective: fills in the entries of processes that other ranks own. Their logs are there, but
/// empty.
void make_known(Transport& ranks, const std::vector<size_t>& owners, const ProcessTables& tables);

}  // namespace culprit::assemble
