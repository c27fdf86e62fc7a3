# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# A recipe for Spack: put this folder as packages/culprit/ into a repository of yours (docs/packages.md).
# There is no released source to fetch yet, so it builds a checkout: spack dev-build, or a git URL of
# yours.
from spack.package import *


class Culprit(CMakePackage):
    """Finds out which code makes a hybrid MPI, OpenMP or GPU program wait: measures the unmodified
    program, replays its trace, and says who made whom wait, where in the code, and what that cost."""

    license("Apache-2.0")

    version("main", branch="main")
    version("1.0.0", tag="v1.0.0")

    variant("papi", default=True, description="Hardware and software-defined counters")
    variant("opencl", default=True, description="Observe OpenCL devices")
    variant("cuda", default=False, description="Observe NVIDIA's GPUs through CUPTI")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("llvm-openmp")
    depends_on("otf2@3:")
    depends_on("elfutils")
    depends_on("sqlite@3")
    depends_on("zlib-api")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10: +fmt_external")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3")
    depends_on("boost+math", type="build")
    depends_on("eigen@3.3:3", type="build")
    depends_on("papi@6:", when="+papi")
    depends_on("opencl-c-headers", when="+opencl")
    depends_on("cuda@12:", when="+cuda")

    # Headers alone, for which Spack has no packages.
    resource(name="kissfft", git="https://github.com/mborgerding/kissfft.git", tag="131.1.0",
             destination="headers", placement="kissfft")
    resource(name="protozero", git="https://github.com/mapbox/protozero.git", tag="v1.7.1",
             destination="headers", placement="protozero")

    generator("ninja")
    conflicts("%gcc@:11", msg="culprit is written in C++20, which needs GCC 12 or later")
    conflicts("platform=darwin", msg="culprit is for Linux")
    requires("target=x86_64:", msg="culprit is for x86-64")
    requires("^[virtuals=mpi] openmpi", "^[virtuals=mpi] mpich", policy="one_of",
             msg="culprit understands Open MPI and MPICH")

    def cmake_args(self):
        openmp = self.spec["llvm-openmp"].prefix
        args = [
            self.define("BUILD_TESTING", False),
            self.define("OMPT_HEADER", join_path(openmp.include, "omp-tools.h")),
            self.define("KISSFFT_INCLUDE_DIR", join_path(self.stage.source_path, "headers")),
            self.define("PROTOZERO_INCLUDE_DIR",
                        join_path(self.stage.source_path, "headers", "protozero", "include")),
        ]
        if "+cuda" in self.spec:
            cuda = self.spec["cuda"].prefix
            args.append(self.define("CUPTI_INCLUDE_DIR", cuda.extras.CUPTI.include))
            args.append(self.define("CUDA_DRIVER_INCLUDE_DIR", cuda.include))
        return args

    @run_after("install")
    def openmp_runtime_beside_culprit(self):
        """For --openmp libomp, which looks in lib first."""
        symlink(join_path(self.spec["llvm-openmp"].prefix.lib, "libomp.so"),
                join_path(self.prefix.lib, "libomp.so.5"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_installed(self):
        Executable(join_path(self.prefix.bin, "culprit"))("--version")
