#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Do the rules bite? Each is shown something that breaks it, and something near it that does not.
import unittest

import findings_doc
import losses_doc
import patterns_doc
import records_doc
import rules
import settings_doc


class FakeTree:
    def __init__(self, **files):
        self.files = {path.replace("__", "/").replace("_dot_", ".").replace("_dash_", "-"): text
                      for path, text in files.items()}
        self.paths = sorted(self.files)

    def text(self, path):
        return self.files[path]

    def ending(self, endings):
        return [p for p in self.paths if p.endswith(endings)]


def breaches(rule, **files):
    return list(rules.RULES[rule](FakeTree(**files)))


class Rules(unittest.TestCase):
    def test_patterns(self):
        table = ('// PATTERN(id)\nPATTERN("m", "", "M", "s", "ranks wait", "", "")\n'
                 'PATTERN("m.x", "m", "X", "s", "it, \\"so\\" to "\n  "say, waits",\n "is it?", "it")')
        page = patterns_doc.document(table)
        self.assertIn('- **X** (`m.x`): it, \\"so\\" to say, waits. To confirm: is it? Try: it.', page)
        self.assertFalse(breaches("patterns", replay__model__wait_patterns_dot_def=table, docs__patterns_dot_md=page))
        self.assertTrue(breaches("patterns", replay__model__wait_patterns_dot_def=table, docs__patterns_dot_md=page + "x"))
        self.assertTrue(breaches("patterns", replay__model__wait_patterns_dot_def=table))
        self.assertFalse(breaches("patterns", base__a_dot_cpp="x"))

    def test_mpi_calls(self):
        calls = "# no row\nMPI_Test : test : request flag status\nMPI_Send MPI_New : send : - count\nMPI_W* : local :\n"
        table = ('// MPI_CALL(name, kind)\nMPI_TRAIT(tests, "x")\nMPI_CALL("MPI_Test", request, tests)\n'
                 'MPI_CALL("MPI_New", point_to_point)\n')
        good = table + 'MPI_CALL("MPI_Send", point_to_point, buffered)\n'
        self.assertFalse(breaches("mpi_calls", trace__mpi_calls_dot_def=good, collector__mpi__calls_dot_txt=calls))
        for wrong in ("", table, good.replace(", tests", ""), good.replace(", tests", ", probes"),
                      table + 'MPI_CALL("MPI_Send", request)', table + 'MPI_CALL("MPI_Send", point_to_point, tests)',
                      table + 'MPI_CALL("MPI_Send", point_to_point, starts)'):
            self.assertTrue(breaches("mpi_calls", trace__mpi_calls_dot_def=wrong, collector__mpi__calls_dot_txt=calls))

    def test_region_names(self):
        tables = {"trace/pseudo_regions.def": 'CULPRIT_PSEUDO_REGION(idle, "(idle)", "", "")\n',
                  "trace/thread_calls.def": 'THREAD_CALL("sem_wait", semaphore, waits)\n'}
        for wrong in ('if (name == "MPI_Send") f();', 'name.starts_with("MPI_");', 'region.starts_with("!$omp parallel");',
                      'name.starts_with("cu");', 'name == "sem_wait";', 'call.starts_with("pthread_join");', 'x = name == "(idle)";',
                      'return name.starts_with("(");', 'return "cuInit";', 'call.starts_with("sem_");'):
            self.assertTrue(breaches("region_names", blame__a_dot_cpp=wrong, **tables), wrong)
        for right in ('// name == "MPI_Send"', 'say("for rank 1 to enter MPI_Init");', '#include "mpi_calls.h"',
                      'f("MPI_COMM_WORLD");', 'f("(unknown)");', 'file.starts_with("culprit ");'):
            self.assertFalse(breaches("region_names", blame__a_dot_cpp=right, **tables), right)
        self.assertFalse(breaches("region_names", trace__mpi_calls_dot_def='MPI_CALL("MPI_Send", x)'))
        self.assertFalse(breaches("region_names", tests__a_dot_cpp='f("MPI_Send");'))

    def test_settings(self):
        table = ('// SETTING(id, no row)\nSETTING(a, program, number(1, 9), "3", "-a,--all", "CULPRIT_A",\n'
                 '        "how <many>, or "\n        "none")\n\n'
                 'SETTING(b, culprit, choice("x,y"), "x", "", "CULPRIT_B", "which (of two)")\n// Told.\n'
                 'HANDED_ON(c, flag(), "CULPRIT_C", "whether")\n')
        events = 'FREQUENT(locks, "locks and such")\n'
        page = settings_doc.document(table, events)
        for row in (r"| `-a`, `--all` | `CULPRIT_A` | 1 to 9 | `3` | how \<many\>, or none | the measured program |",
                    "| `CULPRIT_B` | `x`, `y` | `x` | which (of two) | culprit |",
                    "| `locks` | locks and such |", "| `CULPRIT_C` | `1`, `0` | whether |"):
            self.assertIn("\n" + row + "\n", page)

        def found(**files):
            return breaches("settings", base__settings_dot_def=table, base__frequent_events_dot_def=events, **files)
        self.assertFalse(found(docs__settings_dot_md=page))
        self.assertTrue(found(docs__settings_dot_md=page + "x"))
        self.assertTrue(found())
        self.assertFalse(breaches("settings", base__a_dot_cpp="x"))

    def test_variables(self):
        self.assertTrue(breaches("variables", gpu__a_dot_cpp='getenv("CULPRIT_A");\n'))
        self.assertTrue(breaches("variables", cli__a_dot_h='#define A "as CULPRIT_A=debug"\n'))
        self.assertTrue(breaches("variables", cli__a_dot_cpp='x = R"(\n"CULPRIT_A" // x\n)";\n'))
        self.assertFalse(breaches("variables", base__settings_dot_def='SETTING(a, "CULPRIT_A")\n'))
        self.assertFalse(breaches("variables", tests__a_dot_cpp='setenv("CULPRIT_A", "1", 1);\n'))
        self.assertFalse(breaches("variables", gpu__a_dot_cpp='extern "C" CULPRIT_EXPORT int f(); // "CULPRIT_A"\n'))
    def test_findings(self):
        sources = {
            "blame/findings/findings_derived.def": "",
            "blame/findings/findings_cores.def": "",
            "blame/findings/findings_bursts.def": "",
            "blame/findings/findings_threads.def": "",
            "blame/findings/findings.def": ('// LIST(Row)\nLIST(A, as, each_rank, "one, of \'them\'")\nFIELD(Time, all_s, "")\n'
                                   'FIELD_AS(Color, hue, tone, "of all_s,"\n " again")\nSENTENCES(notes)\nEND\n'),
            "blame/findings/columns.def": 'COLUMN(Time, double, {1}, "REAL", false, "s")\n',
            "blame/findings/words.def": 'WORDS(Color, "c")\nWORD(none, "", "")\nWORD(red, "dark red", "warm")\nEND\n',
            "base/severities.def": "",
        }
        page = findings_doc.document("before\n" + findings_doc.BEGIN + "old" + findings_doc.END + "after\n", sources)
        self.assertTrue(page.startswith("before\n") and page.endswith("after\n"))
        self.assertNotIn("old", page)
        self.assertIn("### `as`\n\nOne, of `them`.\n", page)
        self.assertIn("| `all_s` | s | |\n", page)
        self.assertIn("| `hue` | word | of `all_s`, again: `dark red` (warm); in JSON: `tone` |\n", page)

        def found(page):
            tree = FakeTree()
            tree.files = {**sources, "docs/findings-db.md": page}
            tree.paths = sorted(tree.files)
            return list(rules.RULES["findings"](tree))
        self.assertFalse(found(page))
        self.assertTrue(found(page.replace("warm", "cold")))
        self.assertTrue(found(""))

    def test_losses(self):
        table = ('// LOSS(id)\nSTAGE("Reading", "what is\n" "read")\nLOSS(few, info, "It was {}.")\n'
                 'LOSS(gone, data_loss,\n     "\\"So\\" it ({}) "\n     "went.")\n')
        page = losses_doc.document(table)
        self.assertIn('| `gone` | data loss | "So" it (...) went. |\n| `few` | info | It was ... |\n', page)
        self.assertRaises(ValueError, losses_doc.document, table + "LOSS(odd, info, kSentence)\n")
        source = 'l.add(LossKind::few, 1, "x"); l.add(\n  LossKind::gone); l.restore(name, {1, s, "x"});'

        def found(page=page, source=source, test=""):
            return breaches("losses", base__losses_dot_def=table, docs__losses_dot_md=page,
                            trace__a_dot_cpp=source, tests__a_dot_cpp=test)
        self.assertFalse(found())
        self.assertTrue(found(page=page + "x"))
        self.assertTrue(found(source=source.replace("gone", "few")))
        self.assertTrue(found(source=source + 'l.restore("other", {1, s, "x"});'))
        self.assertTrue(found(source=source + 'return l.contains("few");'))
        self.assertFalse(found(test='l.restore("other", {1, s, "x"}); l.all().at("few");'))
        self.assertFalse(breaches("losses", base__a_dot_cpp="x"))

    def test_records(self):
        table = ('// RECORD(kind)\n#define RECORD(kind, meaning)\n// --- The log ---\nRECORD(none, 0, structure, KEPT, "the end")\n'
                 'END\n#include "trace/raw/part.def"\n#undef RECORD\n')
        part = ('// --- Calls. Each is\n//     one ---\nRECORD(call, 7, mpi, LEFT_OUT, "a (call), "\n       "maybe")\n'
                'PATH(path, "")\nFLAGS(RawSort, sort, "a | b")\nLOW(uint32_t, low, "")\nHIGH(int32_t, high, "(so)")\n'
                'MOMENT(until, "it ended")\nMAYBE(uint64_t, more, "or not")\nNOTED_LOW(after, none, "")\n'
                'REST("others")\nGROWS\nEND\n')
        files = {"trace__raw__records_dot_def": table, "trace__raw__part_dot_def": part}
        page = records_doc.document(FakeTree(**files).text)
        self.assertIn("\n## The log\n\n| kind |", page)
        self.assertIn('| `none` | 0 | yes | the end |  |\n', page)
        self.assertIn("\n## Calls\n\nEach is one.\n\n| kind |", page)
        self.assertIn('| `call` | 7 | no | a (call), maybe (*grows*) | `path` (`arg`, call path)<br>'
                      '`sort` (`flags`, `RawSort`): a \\| b<br>`low` (`w0`, lower half)<br>'
                      '`high` (`w0`, upper half): (so)<br>`until` (`w1`, time): it ended<br>'
                      '`more` (`w2`, optional): or not<br>'
                      '`after` (`w3`, lower half, ticks until `none`)<br>`w4`...: others |', page)
        self.assertFalse(breaches("records", docs__developers__raw_dash_records_dot_md=page, **files))
        self.assertTrue(breaches("records", docs__developers__raw_dash_records_dot_md=page + "x", **files))
        self.assertTrue(breaches("records", **files))
        self.assertFalse(breaches("records", base__a_dot_cpp="x"))

    def test_links(self):
        page = "see [a](a.md#x), [us](../README.md), [all](https://a.b/c) and [cs](decisions/), [1](decisions/1.md)"
        files = {"docs/README.md": page, "docs/a.md": "# X", "README.md": "", "docs/decisions/1.md": ""}

        def found(**changed):
            tree = FakeTree()
            tree.files = {path: text for path, text in {**files, **changed}.items() if text is not None}
            tree.paths = sorted(tree.files)
            return list(rules.RULES["links"](tree))
        self.assertFalse(found())
        self.assertTrue(found(**{"docs/a.md": None}))
        self.assertTrue(found(**{"docs/a.md": "# Y"}))
        self.assertFalse(found(**{"docs/a.md": "[it](#so-it-is-x)\n## So `it is`: (x)\n# X"}))
        self.assertTrue(found(**{"docs/a.md": "[it](#y)\n# X"}))
        self.assertTrue(found(**{"docs/b.md": "new"}))
        self.assertTrue(found(**{"docs/evidence/b.md": "new"}))
        self.assertTrue(found(**{"docs/decisions/2.md": "new"}))
        self.assertTrue(found(**{"docs/decisions/1.md": "[no](../../c.md)"}))

    def test_mentions(self):
        files = {"base__a_dot_h": "#include <sys/b.h>\n", "base__deep__c_dot_cpp": "", "docs__decisions__0007-so_dot_md": "",
                 "report__page__text_dot_cpp": "", "page__main_dot_jsx": "", "examples__x_dot_py": ""}

        def found(text, where="base__d_dot_cpp"):
            return breaches("mentions", **files, **{where: text})
        for stale in ("gone.h", "deep/gone.cpp", "base/gone", "base/gone/", "report/*.h", "base/{a,gone}.h",
                      "../gone.md", "page/text.cpp", "gone.py,", "docs/decisions/0008", "(gone.def)."):
            for text, where in ((f"// See {stale} for\n", "base__d_dot_cpp"), (f"/* {stale} */\n", "base__d_dot_h"),
                                (f"# {stale}\n", "cmake__d_dot_cmake"), (f"! {stale}\n", "examples__d_dot_f90"),
                                (f"see {stale}\n", "docs__d_dot_md"), (f"1. it\n    {stale}\n", "docs__d_dot_md")):
                self.assertTrue(found(text, where), text)
        for name in ("a.h", "base/a.h", "base/a", "deep/c.cpp", "base/deep/", "base/*.h", "base/{a,deep/c}.*",
                     "../base/a.h", "sys/b.h", "b.h", "docs/decisions/0007", "solve.c:12", "their/base/gone.hpp",
                     "/usr/base/gone.h", "base/<name>.h", "other.base/x", "gone.so", "f.h(x)", "and/or", "$base/gone.h",
                     "raw/heartbeat"):
            for text, where in ((f"// See {name}, it\n", "base__d_dot_cpp"), (f"see {name}.\n", "docs__d_dot_md")):
                self.assertFalse(found(text, where), text)
        self.assertFalse(found('auto s = "gone.h";\n// it\'s\n'))
        self.assertFalse(found("see\n\n    cat gone.h\n\n```\ngone.h\n```\n", "docs__d_dot_md"))
        self.assertFalse(found("// page/text.cpp\n", "report__d_dot_h"))
        self.assertTrue(found("as `deep/gone` says\n", "docs__d_dot_md"))
        self.assertFalse(found("as `deep/c` and `their/c` say\n", "docs__d_dot_md"))

    def test_shape(self):
        self.assertTrue(breaches("cycles", base__a_dot_h='#include "base/b.h"', base__b_dot_h="",
                                 base__b_dot_cpp='#include "base/a.h"'))
        self.assertFalse(breaches("cycles", base__a_dot_h='#include "base/b.h"', base__b_dot_h="",
                                  base__a_dot_cpp='#include "base/a.h"'))
        rooms = {"replay__a__a_dot_h": '#include "replay/b/b.h"', "replay__b__b_dot_h": "",
                 "replay__a__c__c_dot_h": ""}
        self.assertFalse(breaches("rooms", **rooms, replay__run_dot_h='#include "replay/a/c/c.h"'))
        self.assertTrue(breaches("rooms", **rooms, replay__b__c_dot_h='#include "replay/a/c/c.h"'))
        large = "class A : public B {\n" + 200 * "  int x;\n" + "};\n"
        self.assertTrue(breaches("classes", base__a_dot_h=large))
        self.assertFalse(breaches("classes", base__a_dot_h=large.replace("  int x;\n", "", 20)))
        many = {f"base__a{i}_dot_h": "" for i in range(31)}
        self.assertTrue(breaches("folders", **many))
        del many["base__a1_dot_h"]
        self.assertFalse(breaches("folders", trace__a_dot_h="", **many))
        long = "// SPDX\n// SPDX\n\n" + 60 * "int x;\n"
        self.assertTrue(breaches("openings", base__a_dot_cpp=long))
        self.assertFalse(breaches("openings", base__a_dot_cpp=long.replace("int", "// What\nint", 1)))
        page = "<!-- from: a.cpp -->\n```cpp\nint x;\n```\n"
        self.assertTrue(breaches("quotes", **{"d_dot_md": page}))
        self.assertTrue(breaches("quotes", **{"d_dot_md": page, "a_dot_cpp": "int y;"}))
        self.assertFalse(breaches("quotes", **{"d_dot_md": page, "a_dot_cpp": "void f();\nint x;\n"}))

    def test_dependencies(self):
        page = ("## To build\n\n| package | the build looks for | reason |\n|---|---|---|\n"
                "| libx-dev | X, x.h | so |\n| y | | so |\n\n## To test\n\n| z | | so |\n")
        script = "build_packages=(libx-dev\n  y)\ntest_packages=(z)\n"
        lists = "find_package(X REQUIRED)\nfind_path(A ${b})\nfind_package(Own)\n"
        own = "find_path(OWN_DIR x.h HINTS y)\n"

        def found(page=page, script=script, lists=lists):
            return breaches("dependencies", docs__developers__dependencies_dot_md=page, dev=script,
                            CMakeLists_dot_txt=lists, cmake__FindOwn_dot_cmake=own)
        self.assertFalse(found())
        self.assertTrue(found(script=script.replace(" y", "")))
        self.assertTrue(found(script=script.replace("z", "z w")))
        self.assertTrue(found(lists=lists + "find_library(L NAMES l)\n"))
        self.assertTrue(found(lists="find_package(Own)\n"))

    def test_includes(self):
        self.assertTrue(breaches("includes", trace__a_dot_cpp='#include "replay/x.h"\n'))
        self.assertTrue(breaches("includes", collector__a_dot_cpp='#include "assemble/x.h"\n'))
        self.assertFalse(breaches("includes", cli__a_dot_cpp='#include "replay/x.h"\n'))

    def test_exports(self):
        table = "CALL(int, wait, (int* status), (status), -1, blocked())\n"
        def found(exports):
            return breaches("exports", collector__sampling__blocking_calls_dot_def=table,
                            collector__preload_dot_map=exports)
        self.assertFalse(found("  global:\n    wait;\n"))
        self.assertTrue(found("  global:\n    waitpid;\n"))

    def test_vendors(self):
        self.assertTrue(breaches("vendors", replay__a_dot_cpp="#include <mpi.h>\n"))
        self.assertTrue(breaches("vendors", cli__a_dot_cpp="#include <sqlite3.h>\n"))
        self.assertFalse(breaches("vendors", collector__mpi__a_dot_cpp="#include <mpi.h>\n"))
        self.assertFalse(breaches("vendors", examples__a_dot_c="#include <mpi.h>\n"))

    def test_headers(self):
        spdx = "// SPDX-FileCopyrightText: x\n// SPDX-License-Identifier: y\n"
        self.assertTrue(breaches("headers", base__a_dot_cpp="int x;\n"))
        self.assertTrue(breaches("headers", base__a_dot_h=spdx + "#pragma once\n"))
        self.assertFalse(breaches("headers", base__a_dot_h=spdx + "\n// What it is.\n#pragma once\n"))

    def test_sizes(self):
        body = "  x();\n" * 90
        self.assertTrue(breaches("sizes", base__a_dot_cpp="void f(int a) {\n" + body + "}\n"))
        self.assertTrue(breaches("sizes", base__a_dot_cpp="int x;\n" * 601))
        self.assertFalse(breaches("sizes", base__a_dot_cpp="struct S {\n" + "  int a;\n" * 90 + "};\n"))

    def test_functions_are_told_from_what_looks_like_them(self):
        text = """
        namespace a { // }
        class C : public B<int> { void g() const noexcept { if (x) { "}"; } } int y = f(1); };
        const char* s = R"sql( { ( )sql";
        template <class T> auto h(T t) -> int { return [&] { return '{'; }(); }
        int table[] = {f(1), f(2)};
        C::C() : b_{1}, c_(2) { }
        }
        """
        self.assertEqual([name for name, _ in rules.functions_of(text)][:2], ["g", "h"])

    def test_words(self):
        self.assertTrue(breaches("words", base__a_dot_cpp="// TO" + "DO later\n"))
        self.assertTrue(breaches("words", docs__a_dot_md="see /ho" + "me/me/x\n"))
        self.assertFalse(breaches("words", docs__a_dot_md="$root/work/x and todos and /usr/lib\n"))

    def test_width(self):
        wide = "word " * 30
        self.assertTrue(breaches("width", docs__a_dot_md=f"Some {wide}\n"))
        self.assertTrue(breaches("width", docs__a_dot_md=f"- item {wide}\n"))
        self.assertFalse(breaches("width", docs__a_dot_md=f"| {wide} |\n\n```\n{wide}\n```\n"))

    def test_wide_lines_are_broken(self):
        words = "word " * 40
        text = f"# A title\n\nNarrow\nlines stay.\n\n1. {words}`two words` [a link](b.md)\n\n       code {words}\n" \
               f"   {words}\n\n```\n{words}\n```\n| {words} |\n"
        narrow = rules.prose.narrowed(text)
        self.assertEqual(narrow.split(), text.split())
        self.assertEqual([n for n, _ in rules.prose.too_wide(narrow)],
                         [i for i, l in enumerate(narrow.split("\n"), 1) if l.startswith("       code")])
        self.assertIn("Narrow\nlines stay.\n", narrow)
        self.assertIn("`two words`", narrow)
        self.assertRegex(narrow, r"\n1\. [^\n]+\n   word [^\n]+`two words` \[a link\]\(b.md\)\n\n")
        self.assertEqual(rules.prose.narrowed(narrow), narrow)

    def test_files(self):
        for line in ("std::ofstream out(x);", "int f = ::open(p, O_RDONLY);", "open(p,\n O_WRONLY | O_CREAT);",
                     "fopen (p, m);", "openat(d, p, O_RDONLY);", "sqlite3_open_v2(a);",
                     "for (auto& e : fs::directory_iterator(p)) {}", "popen(x, y);", "mkstemp(t);", "creat(a, 0);"):
            self.assertTrue(breaches("files", assemble__a_dot_cpp=line), line)
            self.assertFalse(breaches("files", base__files__a_dot_cpp=line), line)
            self.assertFalse(breaches("files", collector__a_dot_cpp=line), line)
            self.assertFalse(breaches("files", tests__a_dot_cpp=line), line)
            self.assertFalse(breaches("files", assemble__a_dot_cpp="// " + line.replace("\n", "")), line)
        for line in ("cache.open(id);", "void open(Member& m);", "file->open(a, O_RDONLY);", "reopen(p, O_RDWR);",
                     "std::stringstream s;", "file_system(x);"):
            self.assertFalse(breaches("files", assemble__a_dot_cpp=line), line)

    def test_docs(self):
        self.assertTrue(breaches("docs", docs__a_dot_md="see cli/commands/run.cpp:12\n", cli__run_dot_cpp=""))
        self.assertFalse(breaches("docs", docs__a_dot_md="    report: run.cpp:12\n", cli__run_dot_cpp=""))
        self.assertFalse(breaches("docs", docs__a_dot_md="see cli/commands/run.cpp\n", cli__run_dot_cpp=""))


if __name__ == "__main__":
    unittest.main()
