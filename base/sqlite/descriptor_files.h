// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// SQLite opens files by name, follows links on the way, and looks for journals beside them, which
// it applies to the file. In a folder of another user it must not: here it only gets files that are
// open already, one per database. Its temporary data stay in memory.
#pragma once

#include <string>

namespace culprit {

/// The name of the way for sqlite3_open_v2(), registered at the first call.
const char* descriptor_files();

/// The name under which the file is known there. It must stay open as long as the database is.
std::string name_of_descriptor(int descriptor);

}  // namespace culprit
