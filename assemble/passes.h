// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The passes from raw records to a written trace, whatever writes it and wherever names come from:
//   read      which processes there are, and which rank each is
//   survey    a first walk: addresses, communicators, regions, amounts
//   name      addresses become functions
//   unify     clocks and communicators become the same for all
//   play      each thread's records become its location's events
#pragma once

#include <filesystem>

#include "assemble/assemble.h"
#include "assemble/names/name_cache.h"
#include "assemble/names/symbols.h"
#include "base/result.h"
#include "trace/otf2/writer.h"

namespace culprit::assemble {

struct PassOptions {
  unsigned threads = 0;  ///< 0: all cores
  SymbolSource symbols = read_symbols;
  NameCache names = NameCache();  ///< none unless said
};

/// Plays everything under `raw` into `writer` and finishes it. Error if there are no records.
Result<RunFacts> run_passes(const std::filesystem::path& raw, trace::Otf2Writer& writer,
                            const PassOptions& options);

/// The passes as far as needed to say who is stuck at the moment. Writes nothing.
Result<std::vector<StuckGroup>> run_passes_until_stuck(const std::filesystem::path& raw,
                                                       const PassOptions& options);

}  // namespace culprit::assemble
