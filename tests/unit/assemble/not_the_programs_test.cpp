// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whose code is the program's own, by the tables and by a file of the user's.
#include "assemble/names/others/not_the_programs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trace/python/python_module.h"

namespace culprit::assemble::test {
namespace {

std::filesystem::path list_with(const std::string& text) {
  const auto file = std::filesystem::path(testing::TempDir()) / "culprit_wrappers_test";
  std::ofstream(file) << text;
  return file;
}

TEST(NotTheProgramsOwn, TablesKnowLibrariesByTheBeginningOfTheirNames) {
  const NotThePrograms others;
  EXPECT_EQ(others.library("libsolver.so.3", "").kind, CodeKind::user);
  EXPECT_EQ(others.library("libgomp.so.1", "").kind, CodeKind::openmp_runtime);
  EXPECT_EQ(others.library("libmpi.so.40", "").shown, Shown::never);
  EXPECT_EQ(others.library("libc.so.6", "").shown, Shown::called);
  EXPECT_EQ(others.library("libopenblasp-r0.3.21.so", "").shown, Shown::always);
  EXPECT_EQ(others.library("_umath.cpython-311.so", "numpy.core._umath").shown, Shown::always);
  EXPECT_EQ(others.library("_umath.cpython-311.so", "flow.solver").kind, CodeKind::user);
  EXPECT_EQ(others.library("", "numpy").shown, Shown::always);
  EXPECT_EQ(others.library("", "numpylike").kind, CodeKind::user);
  EXPECT_EQ(others.library("libtorch_cpu.so", "").kind, CodeKind::framework);
  EXPECT_EQ(others.library("", "torch.nn.modules.linear").kind, CodeKind::framework);
}

TEST(NotTheProgramsOwn, ModulesOfPythonAreKnownByTheirPaths) {
  const auto expect = [](const char* path, const char* name, bool standard) {
    EXPECT_EQ(trace::python_module(path).name, name) << path;
    EXPECT_EQ(trace::python_module(path).standard, standard) << path;
  };
  expect("/usr/lib/python3/dist-packages/numpy/core/_umath.cpython-311-x86_64-linux-gnu.so",
         "numpy.core._umath", false);
  expect("/usr/lib/python3/dist-packages/numpy/__init__.py", "numpy", false);
  expect("/usr/lib/python3.11/subprocess.py", "subprocess", true);
  expect("/opt/conda/lib/python3.12/multiprocessing/pool.py", "multiprocessing.pool", true);
  expect("/usr/lib/python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so", "lib-dynload._ssl",
         true);
  expect("/opt/venv/lib/python3.12/site-packages/flow/solver.py", "flow.solver", false);
  expect("/srv/runs/model.py", "model", false);
  expect("/usr/lib/libsolver.so.3", "", false);
  expect("<string>", "", false);
}

TEST(NotTheProgramsOwn, AFileThatSaysNothingIsNamedByItsModule) {
  const auto name = [](const char* path) {
    return trace::python_function_name("<module>", trace::python_module(path));
  };
  EXPECT_EQ(name("/usr/lib/python3/dist-packages/torch/__init__.py"), "import torch");
  EXPECT_EQ(name("/usr/lib/python3/dist-packages/torch/nn/init.py"), "import torch.nn.init");
  EXPECT_EQ(name("/usr/lib/python3.11/json/__init__.py"), "import json");
  EXPECT_EQ(name("/srv/runs/flow/__init__.py"), "import flow");
  EXPECT_EQ(name("/srv/runs/flow/__main__.py"), "<module> of flow");
  EXPECT_EQ(name("/srv/runs/flow/solver.py"), "<module>");
  EXPECT_EQ(name("<string>"), "<module>");
  EXPECT_EQ(trace::python_function_name("step", trace::python_module("flow/__init__.py")), "step");
}

TEST(NotTheProgramsOwn, FilesOfPythonsLibraryAreKnownByTheirNamesAlone) {
  EXPECT_TRUE(trace::python_module_found_as("typing.py").standard);
  EXPECT_TRUE(trace::python_module_found_as("logging/__init__.py").standard);
  EXPECT_TRUE(trace::python_module_found_as("<frozen os>").standard);
  EXPECT_FALSE(trace::python_module_found_as("train.py").standard);
  EXPECT_FALSE(trace::python_module_found_as("flow/typing.py").standard);
  EXPECT_EQ(trace::python_module_found_as("torch/nn/modules/linear.py").name,
            "torch.nn.modules.linear");
  EXPECT_EQ(trace::owner_of_python("torch.nn"), trace::PythonOwner::framework);
  EXPECT_EQ(trace::owner_of_python("torchlike"), trace::PythonOwner::program);
}

TEST(NotTheProgramsOwn, FrameworksAreWrappers) {
  const NotThePrograms others;
  EXPECT_TRUE(others.is_wrapper("Kokkos::Impl::ParallelFor<Relax>::exec"));
  EXPECT_TRUE(others.is_wrapper("RAJA::forall<RAJA::omp_parallel_for_exec>"));
  EXPECT_TRUE(others.is_wrapper("std::__invoke_impl<void>"));
  EXPECT_FALSE(others.is_wrapper("KokkosFlow::step"));
  EXPECT_FALSE(others.is_wrapper("relax"));
  for (const char* function :
       {"libcudart_static_5449a5", "__device_stub__Z4busyy", "cudaEventQuery",
        "cudaLaunchKernel<char>", "cudaMemcpyAsync_ptsz"}) {
    EXPECT_TRUE(NotThePrograms::is_of_device_runtime(function)) << function;
  }
  for (const char* function :
       {"cudaSolve", "cudaStreamTriad", "cudaLaunchKernelsOfStep", "relax"}) {
    EXPECT_FALSE(NotThePrograms::is_of_device_runtime(function)) << function;
  }
}

TEST(NotTheProgramsOwn, UsersAddToTheTables) {
  const auto others = NotThePrograms::read(
      list_with("# ours\n\n  function frame::*   # dispatches\nfunction run_*\nlibrary libours*\n"
                "wait pool::wait_*\n"));
  ASSERT_TRUE(others) << others.error().sentence;
  EXPECT_TRUE(others->is_wrapper("frame::dispatch<int, double>"));
  EXPECT_TRUE(others->is_wrapper("run_kernel"));
  EXPECT_FALSE(others->is_wrapper("rerun_kernel"));
  EXPECT_TRUE(others->is_wrapper("Kokkos::parallel_for"));
  EXPECT_EQ(others->library("libours.so", "").shown, Shown::always);
  EXPECT_TRUE(others->is_spin_wait("pool::wait_for_all"));
  EXPECT_TRUE(others->is_spin_wait("tMPI_Event_wait"));
  EXPECT_FALSE(others->is_spin_wait("tMPI_Event_signal"));
  EXPECT_EQ(others->library("libtheirs.so", "").kind, CodeKind::user);
}

TEST(NotTheProgramsOwn, WhatIsNoListIsRefusedWithItsLine) {
  const auto others = NotThePrograms::read(list_with("function a\nfunctions b\n"));
  ASSERT_FALSE(others);
  EXPECT_NE(others.error().sentence.find(":2:"), std::string::npos) << others.error().sentence;
  EXPECT_FALSE(NotThePrograms::read(list_with("library\n")));
  EXPECT_FALSE(NotThePrograms::read("/nowhere/wrappers"));
}

}  // namespace
}  // namespace culprit::assemble::test
