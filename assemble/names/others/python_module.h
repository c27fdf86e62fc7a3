// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Modules of Python, by the paths of their files.
#pragma once

#include <string>
#include <string_view>

namespace culprit::assemble {

struct PythonModule {
  std::string name;       ///< as programs import it: "numpy.core"; "": it is no module
  bool standard = false;  ///< of Python's own library
};

/// `path`: of source text, or of an extension
/// ("numpy/core/_umath.cpython-311-x86_64-linux-gnu.so").
PythonModule python_module(std::string_view path);

}  // namespace culprit::assemble
