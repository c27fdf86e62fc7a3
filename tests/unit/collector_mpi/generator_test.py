#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The generator on a header of a few lines: what it reads, what it writes, what it refuses."""

import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPEC = importlib.util.spec_from_file_location("gen_mpi", ROOT / "collector/mpi/gen_mpi.py")
gen_mpi = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gen_mpi)

HEADER = """
typedef int MPI_Comm;
extern __attribute__((visibility("default"))) int MPI_Init(int *argc, char ***argv);
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm) __attribute__((deprecated("no"))) ;
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh);
int MPI_Op_create(MPI_User_function *f, int commute, MPI_Op *op);
double MPI_Wtime(void);
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm);
"""


def table(text):
    path = pathlib.Path(tempfile.mkdtemp()) / "calls.txt"
    path.write_text(text)
    return gen_mpi.Table(path)


class Generator(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        header = pathlib.Path(self.folder.name) / "mpi.i"
        header.write_text(HEADER)
        self.prototypes = gen_mpi.parse_header(header)
        self.calls = gen_mpi.Table(ROOT / "collector/mpi/calls.txt")

    def generate(self, write, mpi, calls=None):
        out = pathlib.Path(self.folder.name) / "out"
        write(self.prototypes, calls or self.calls, mpi, out)
        return out.read_text()

    def test_prototypes(self):
        send = self.prototypes["MPI_Send"]
        self.assertEqual([p.type for p in send.parameters],
                         ["const void *", "int", "MPI_Datatype", "int", "int", "MPI_Comm"])
        ranges = self.prototypes["MPI_Group_range_incl"].parameters[2]
        self.assertEqual(ranges.declaration, "int @[][3]")
        self.assertEqual(self.prototypes["MPI_Wtime"].parameters, [])

    def test_symbols_of_each_mpi(self):
        openmpi = self.generate(gen_mpi.write_names, "openmpi").split()
        mpich = self.generate(gen_mpi.write_names, "mpich").split()
        for symbol in ("MPI_Send", "mpi_send", "mpi_send_", "mpi_send__", "MPI_SEND", "mpi_send_f08_"):
            self.assertIn(symbol, openmpi)
            self.assertIn(symbol, mpich)
        self.assertIn("MPI_Send_f08", openmpi)
        self.assertIn("mpi_send_f08ts_", mpich)
        self.assertIn("mpi_send_f08ts_large_", mpich)
        self.assertIn("MPI_Wtime", openmpi, "what is not recorded is intercepted too")

    def test_wrappers(self):
        text = self.generate(gen_mpi.write_wrappers, "mpich")
        self.assertIn("return on_send(functions[", text)
        self.assertIn('{"MPI_Send", {}}', text)
        self.assertNotIn("MPI_Wtime", text, "local: nothing to wrap")
        self.assertIn("int c_MPI_Op_create(MPI_User_function *a0, int a1, MPI_Op *a2) {\n"
                      "  note_callback(reinterpret_cast<uintptr_t>(a0));", text)
        self.assertIn("void f_MPI_Op_create(void* a0, void* a1, void* a2, void* ierror) {", text)
        self.assertIn("FortranArguments<MPI_Count, form == Form::f08ts>", text)

    def test_fortran_passes_lengths_of_texts_and_no_argc(self):
        text = self.generate(gen_mpi.write_wrappers, "openmpi")
        self.assertIn("void f_MPI_File_open(void* a0, void* a1, void* a2, void* a3, void* a4, "
                      "void* ierror, size_t length0)", text)
        self.assertIn("void f_MPI_Init(void* ierror)", text)

    def test_large_counts_mean_the_same(self):
        self.assertEqual(self.calls.meaning("MPI_Send_c").kind, "send")
        self.assertEqual(self.calls.meaning("MPI_Never_heard_of").kind, "plain")

    def test_mistakes_are_told(self):
        for text, told in (
                ("MPI_Send : nonsense : - - - - - -", "unknown kind"),
                ("MPI_Send send", "not '<functions>"),
        ):
            with self.assertRaisesRegex(SystemExit, told):
                table(text)
        for text, told in (
                ("MPI_Send : send : - count type peer tag\nMPI_Wtime : local :", "6 parameters in mpi.h, not 5"),
                ("MPI_Send : send : - - type peer tag comm\nMPI_Wtime : local :", "role 'count'"),
                ("MPI_Wtime : plain :", "make it local"),
                ("MPI_Op_create : callbacks : - - -\nMPI_Wtime : local :", "role 'function'"),
        ):
            with self.assertRaisesRegex(SystemExit, told):
                self.generate(gen_mpi.write_wrappers, "openmpi", table(text))


if __name__ == "__main__":
    unittest.main()
