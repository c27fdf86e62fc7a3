// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Databases as tools leave them, made of statements.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>

#include "base/files/regular_file.h"
#include "base/sqlite/sqlite.h"
#include "folder.h"

namespace culprit::trace {

inline std::filesystem::path make_database(const Folder& folder,
                                           std::initializer_list<const char*> statements) {
  std::filesystem::path file = folder.path() / "report.sqlite";
  const Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  Database database(descriptor.number(), Database::Mode::create);
  for (const char* statement : statements) database.execute(statement);
  database.close();
  EXPECT_TRUE(database.ok()) << database.failure();
  return file;
}

}  // namespace culprit::trace
