// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/folder_seeds.h"

#include <fcntl.h>

#include <fstream>
#include <string>

#include "assemble/assemble.h"
#include "base/files/regular_file.h"
#include "base/sqlite/sqlite.h"
#include "cli/experiment.h"
#include "report/db/findings_db.h"
#include "tests/unit/assemble/raw_builder.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/trace/otf2_fixture.h"

namespace culprit::fuzz {
namespace {

namespace fs = std::filesystem;
using assemble::test::FakeCode;
using assemble::test::RawProcessBuilder;
using assemble::test::RawThread;

const std::vector<std::string> kMain = {"_start", "libc:__libc_start_main", "main"};

/// A rank that exchanges a message with the other and has a team of two.
void write_process(const fs::path& folder, FakeCode& code, int32_t rank, bool ended) {
  RawProcessBuilder process(folder, code);
  process.rank(rank, 2);
  if (ended) process.ended(900);
  RawThread& master = process.thread(0);
  RawThread& worker = process.thread(1);
  master.enter(10, "MPI_Init", kMain).leave(20, "MPI_Init");
  master.sample(30, kMain);
  if (rank == 0) {
    master.enter(100, "MPI_Send", kMain).send(101, 1, 64).leave(120, "MPI_Send");
  } else {
    master.enter(60, "MPI_Recv", kMain).recv(110, 0, 64).leave(121, "MPI_Recv");
  }
  master.fork(200, 7, kMain).begin(210, 7, 2, 0).end(400, 7).join(410, 7);
  worker.begin(220, 7, 2, 1).sample(300, kMain).end(405, 7);
  if (ended) master.enter(500, "MPI_Finalize", kMain).leave(600, "MPI_Finalize");
}

/// The smallest pages that there are: nearly all tables of findings are nearly empty.
void shrink(const fs::path& findings) {
  const Descriptor file(open(findings.c_str(), O_RDWR | O_CLOEXEC));
  Database database(file.number(), Database::Mode::create);
  database.execute("PRAGMA page_size = 512");
  database.execute("VACUUM");
  database.close();
}

void keep(const fs::path& experiment, const fs::path& folder) {
  shrink(cli::findings_file(experiment));
  std::ofstream(folder / experiment.filename(), std::ios::binary)
      << pack_folder(read_folder(experiment));
}

}  // namespace

void write_folder_seeds(const fs::path& folder, const fs::path& scratch) {
  for (const bool ended : {true, false}) {
    const fs::path experiment = scratch / (ended ? "ended" : "killed");
    FakeCode code;
    fs::create_directories(experiment / "raw");
    write_process(experiment / "raw" / "node1.1.a", code, 0, ended);
    write_process(experiment / "raw" / "node1.2.b", code, 1, ended);
    cli::ExperimentInfo info;
    info.command = "mpirun -n 2 ./app";
    info.program = "app";
    info.parameters = {{"size", 100}};
    static_cast<void>(cli::write_info(experiment, info).ok());
    static_cast<void>(assemble::open_records(experiment, 1).ok());
    static_cast<void>(report::save_findings(ended ? report::every_field() : report::hybrid_chain(),
                                            cli::findings_file(experiment))
                          .ok());
    if (ended) trace::write_rich_archive(experiment / "trace");
    keep(experiment, folder);
  }
}

void write_folder_seed(const fs::path& experiment, const fs::path& folder,
                       const fs::path& scratch) {
  const fs::path copy = scratch / fs::absolute(experiment).lexically_normal().filename();
  fs::create_directories(scratch);
  fs::copy(experiment, copy, fs::copy_options::recursive);
  keep(copy, folder);
}

}  // namespace culprit::fuzz
