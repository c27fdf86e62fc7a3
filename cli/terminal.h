// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What stdout and stderr are: a person at a terminal gets colours, a page as wide as the terminal,
// and a line of progress; a file or a pipe gets none of that.
#pragma once

#include <cstddef>
#include <string_view>

namespace culprit::cli {

/// If culprit was started with stdin, stdout or stderr closed, reserves their descriptors, so that
/// no file gets one and receives printed text. Using them fails as before, also for a program that
/// culprit starts. Call before any file is opened.
void reserve_standard_files();

/// Sets the width of pages by stdout, and shows progress if stderr is a terminal.
void use_terminals();

/// Whether a person sits before stdin and stdout, at a terminal that can show pages in place.
bool is_interactive();

/// On stdout, all of it. False if that failed.
bool print(std::string_view text);
/// Returns whether all output to stdout, by any way, has been written: call once, at the end.
/// Failures of print() are not included.
bool all_was_printed();
/// The same of a page for people, in colours if they can be seen and are wanted (NO_COLOR, TERM).
bool print_page(std::string_view page);
/// The same, through the reader's pager (PAGER, else less) if the page is longer than the terminal.
bool show_page(std::string_view page);

}  // namespace culprit::cli
