// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Modules of Python, by the paths of their files: whose they are, and how programs import them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace culprit::trace {

struct PythonModule {
  enum class Part : uint8_t {
    file,
    package,  ///< what is executed where a package is imported ...
    main,     ///< ... and where it is a program
  };
  std::string name;       ///< as programs import it: "numpy.core"; "": it is no module
  bool standard = false;  ///< of Python's own library
  Part part = Part::file;
};

/// `path`: of source text, or of an extension
/// ("numpy/core/_umath.cpython-311-x86_64-linux-gnu.so").
PythonModule python_module(std::string_view path);

/// The same of a path without the folder in which Python has found the module: that of torch._ops
/// begins with "torch/".
PythonModule python_module_found_as(std::string_view path);

/// Whose functions a module has.
enum class PythonOwner : uint8_t {
  program,
  helper,     ///< a package that works for its callers
  framework,  ///< likewise, and calls the program's functions, and has threads of its own
};

/// Of a module that is not Python's own, by its name.
PythonOwner owner_of_python(std::string_view module);

/// Whether a function, which Python calls `name`, is the code of a package or library that is
/// executed once, as it is imported.
bool is_import(std::string_view name, const PythonModule& module);

/// How to call a function that Python calls `name`. Where that is "<module>", and the file tells a
/// reader nothing, the module has to: "import torch".
std::string python_function_name(std::string_view name, const PythonModule& module);

}  // namespace culprit::trace
