// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run of two ranks that goes on: rank 1 waits for 4 of 20 s, because of "solve" on rank 0.
#pragma once

#include <string>

#include "cli/top/now.h"

namespace culprit::cli {

inline Now sample(const std::string& culprit = "solve") {
  Now now;
  now.runs = true;
  now.at_s = 1000;
  now.newest_s = 999;
  now.took_s = 0.5;
  blame::Findings& f = now.findings;
  f.run.program = "heat";
  f.run.ranks = f.run.locations = 2;
  f.run.wall_s = 10;
  f.run.allocation_s = 20;
  f.locations = {{"0.0", 0, 0, "node", 10, 0, ""}, {"1.0", 1, 0, "node", 10, 4, ""}};
  f.callpaths = {{"main", "main", "heat.c", 1},
                 {"main/" + culprit, culprit, "heat.c", 9},
                 {"main/MPI_Recv", "MPI_Recv", "", 0}};
  f.callpaths[1].parent = f.callpaths[2].parent = CallPathId(0);
  f.profile = {{CallPathId(1), LocationId(0), 5, 8.5},
               {CallPathId(0), LocationId(0), 1, 1.5},
               {CallPathId(2), LocationId(1), 5, 4},
               {CallPathId(0), LocationId(1), 1, 6}};
  f.waits = {{"mpi.late_sender", CallPathId(2), LocationId(1), 5, 4}};
  f.delays = {{"mpi.late_sender", CallPathId(1), LocationId(0), 4, 0}};
  f.efficiencies.emplace_back();
  f.efficiencies.back().name = blame::Factor::parallel;
  f.efficiencies.back().value = 0.8;
  return now;
}

}  // namespace culprit::cli
