// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The delay analysis of messages and collective operations as plainly as it can be written: made
// from a trace's events alone, with nothing of replay/ or blame/ in it, quadratic where that is
// simpler. What the analysis says of a trace must be what this says. Knows processes of one thread;
// blocking and non-blocking messages and collectives on intra-communicators; no probes, tests,
// one-sided communication, threads or devices.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trace/source.h"

namespace culprit::testing_support {

struct OracleAnswer {
  std::map<std::pair<std::string, size_t>, double> costs_s;  ///< by call path and location
  std::map<size_t, double> waiting_s;                        ///< by location
  double unattributed_s = 0;
  size_t waits = 0;
  size_t unexplained = 0;  ///< waits that are longer than what explains them
};

OracleAnswer ask_oracle(const trace::Source& trace);

}  // namespace culprit::testing_support
