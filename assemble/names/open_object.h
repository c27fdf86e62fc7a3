// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Executables and libraries whose names come from records, or from other such files, and so perhaps
// from an attacker: files that the libraries that read them (elfutils) would wait for, or unpack
// until no memory is left, are not opened. Links are followed, as libraries are installed with
// them.
#pragma once

#include <filesystem>
#include <optional>

#include "base/files/regular_file.h"

namespace culprit::assemble {

/// None if this is no ELF file, or one whose compressed parts would fill the memory.
std::optional<RegularFile> open_object_file(const std::filesystem::path& path);

/// Something exists there, and it is no such file: it must not be opened.
bool is_trap(const std::filesystem::path& path);

}  // namespace culprit::assemble
