# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What somebody can put into an experiment folder before giving it away, one thing at a time.

`attacks(folder, outside)` yields (name, function): called on a fresh copy of a sound experiment, the
function turns it into a trap. `outside` is what belongs to whoever analyses it.
"""

import copy
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess

GIB = 1 << 30


# --- what can lie at a place ---

def clear(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put(path):
    clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def pipe(path):
    os.mkfifo(put(path))


def folder(path):
    put(path).mkdir()


def sparse(path, size):
    """Longer than anybody can read, and nearly all hole."""
    if not path.exists():
        put(path)
    with path.open("ab") as file:
        file.truncate(size)


def deep_json(levels):
    return '{"a":' * levels + "1" + "}" * levels


# --- experiment.json ---

def edit_json(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def json_attacks(base):
    file = base / "experiment.json"
    text = file.read_text(encoding="utf-8").rstrip().removesuffix("}")
    for name, value in {"arrays": "[" * 200_000 + "]" * 200_000, "objects": deep_json(60_000),
                        "open": "[" * 400_000}.items():
        yield f"nested {name}", lambda value=value: file.write_text(f'{text}, "x": {value}}}')
        yield f"nested {name} measured", lambda value=value: file.write_text(
            f'{text}, "measured": {value}}}')
    yield "not utf-8", lambda: file.write_bytes(b'{"culprit": "\xff\xfe", "command": "\xc3"}')
    odd = [-1, 1e308, 2**64 - 1, -2**63, "x\n\x1b[2J", None, [], {}, True, [[]], ["x"] * 5]
    content = json.loads(file.read_text(encoding="utf-8"))
    keys = [(key,) for key in content if key != "culprit"] + [("parameters",), ("trace",), ("selected",)]
    keys += [("measured", key) for key in content.get("measured", {})]

    def change(value, keys):
        def edit(content):
            for path in keys:
                if len(path) == 1:
                    content[path[0]] = copy.deepcopy(value)
                elif isinstance(content.get(path[0]), dict):
                    content[path[0]][path[1]] = copy.deepcopy(value)
        edit_json(file, edit)
    for value in odd:
        yield f"all {value!r}", lambda value=value: change(value, keys)
        yield f"measured {value!r}", lambda value=value: change(value, [k for k in keys if len(k) == 2])
    member = {"location": 2**32 - 1, "name": "\x1b]0;x\x07", "call": "x\ny", "since_s": -1e300,
              "waits_for": [0, 2**32 - 1], "why": "\u202e"}
    yield "stuck", lambda: change([{"deadlock": True, "members": [member] * 3}], [("measured", "stuck")])
    for place in ("/dev/zero", "/proc/self/mem", "/", "", ".", "..", str(base), str(base / "raw"),
                  str(base / "experiment.json"), "x" * 5000, "\x1b[31m", str(base / "pipe")):
        def trace(place=place):
            pipe(base / "pipe")
            change(place, [("trace",)])
        yield f"trace {place.replace(str(base), 'here')[:20]!r}", trace


# --- findings.db ---

def sql(file, *statements):
    database = sqlite3.connect(file, isolation_level=None)
    database.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        database.execute(statement)
    database.close()


def columns(file, table):
    database = sqlite3.connect(file)
    names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    database.close()
    return names


def endless(file, table):
    names = columns(file, table)
    rows = ", ".join(f"x AS {name}" for name in names)
    sql(file, "DROP VIEW IF EXISTS waits_named", "DROP VIEW IF EXISTS delays_named",
        "DROP VIEW IF EXISTS counts_named", "DROP VIEW IF EXISTS idle_blame_named",
        f"DROP TABLE {table}",
        f"CREATE VIEW {table} AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        f"SELECT {rows} FROM c")


def generated(file):
    sql(file, "DROP VIEW IF EXISTS waits_named", "ALTER TABLE notes ADD COLUMN big TEXT AS "
        "(hex(zeroblob(50000000))) VIRTUAL", "ALTER TABLE notes RENAME COLUMN sentence TO gone",
        "ALTER TABLE notes RENAME COLUMN big TO sentence")


def circle(file):
    """All inner pages lead to one: a few pages with more rows than time."""
    data = bytearray(file.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    size = 65536 if size == 1 else size
    leaves = [p for p in range(1, len(data) // size) if data[p * size] == 13]
    count = len(data) // size
    # Sixteen levels of pages that each point to the next one many times.
    for level in range(16):
        page = bytearray(size)
        child = count + level + 2 if level < 15 else leaves[-1] + 1
        cells, end = [], size
        while 12 + 2 * (len(cells) + 1) < end - 5:
            end -= 5
            page[end:end + 5] = struct.pack(">IB", child, 1)
            cells.append(end)
        page[0:12] = struct.pack(">BHHHBI", 5, 0, len(cells), end % 65536, 0, child)
        for i, cell in enumerate(cells):
            page[12 + 2 * i:14 + 2 * i] = struct.pack(">H", cell)
        data += page
    data[28:32] = struct.pack(">I", len(data) // size)
    file.write_bytes(data)
    roots = f"UPDATE sqlite_schema SET rootpage = {count + 1} WHERE name IN ('waits', 'notes', 'callpaths')"
    sql(file, roots)


def database_attacks(base, outside):
    file = base / "findings.db"
    for table in ("run", "waits", "callpaths", "losses", "notes"):
        yield f"view {table}", lambda table=table: endless(file, table)
    yield "generated column", lambda: generated(file)
    yield "circle of pages", lambda: circle(file)
    yield "trigger", lambda: sql(file, "CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM notes; END")
    yield "virtual", lambda: sql(file, "DROP TABLE notes", "CREATE VIRTUAL TABLE notes USING fts5(sentence)")
    yield "schema", lambda: sql(file, "UPDATE sqlite_schema SET sql = 'CREATE TABLE ' || name || '(' || "
                                "substr(hex(zeroblob(200000)), 1, 300000) || ')' WHERE name = 'notes'")
    yield "ids", lambda: sql(file, "UPDATE callpaths SET parent = -1", "UPDATE locations SET rank = -9e18")
    yield "names", lambda: sql(file, "UPDATE callpaths SET name = char(27) || '[2J' || char(10) || char(8238)",
                               "UPDATE run SET program = char(10) || char(27) || ']0;x' || char(7), "
                               "command = '$(touch /tmp/x) `x`' || char(0) || 'x', wall_s = -1e308")
    yield "numbers", lambda: sql(file, "UPDATE run SET wall_s = 9e999, ranks = -1, locations = 4294967295",
                                 "UPDATE waits SET time_s = 1e308, count = -1")
    yield "text for numbers", lambda: sql(file, "UPDATE waits SET time_s = 'x', location = 0.5")

    def journal(suffix):
        # A hot journal would be played into the database, or a file that it names deleted.
        victim = outside / "victim"
        (base / f"findings.db{suffix}").write_bytes(
            bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 1, 7, 1, 512, 512) + bytes(484) +
            struct.pack(">I", 1) + bytes(512) + struct.pack(">I", 7) + str(victim).encode() +
            struct.pack(">II", len(str(victim)), 0) + bytes.fromhex("d9d505f920a163d7"))
    for suffix in ("-journal", "-wal", "-shm"):
        yield f"findings.db{suffix}", lambda suffix=suffix: journal(suffix)

    def write_ahead():
        data = bytearray(file.read_bytes())
        data[18:20] = b"\2\2"
        file.write_bytes(data)
        journal("-wal")
    yield "write-ahead", write_ahead


# --- modules named in maps ---

def name_module(base, module):
    """All code of the run is said to lie in this file; what it is called is not known yet."""
    clear(base / "names")
    clear(base / "findings.db")
    edit_json(base / "experiment.json", lambda content: content.pop("measured", None))
    for maps in base.glob("raw/*/maps.*"):
        lines = maps.read_text(encoding="utf-8", errors="replace").splitlines()
        changed = [" ".join(line.split()[:5] + [module]) if " r-xp " in line and "/" in line else line
                   for line in lines]
        maps.write_text("\n".join(changed) + "\n", encoding="utf-8")


def module_attacks(base, program):
    evil = base / "evil.so"

    def with_file(make, module=None):
        def attack():
            make()
            name_module(base, module or str(evil))
        return attack

    def debug_link():
        """The program without debug information, which says that a pipe beside it has it."""
        (base / "evil.debug").write_bytes(b"x")
        subprocess.run(["objcopy", "--strip-debug", "--remove-section=.gnu_debuglink",
                        f"--add-gnu-debuglink={base / 'evil.debug'}", program, evil], check=True)
        pipe(base / "evil.debug")
        pipe(base / ".debug/evil.debug")
        pipe(base / "evil.so.debug")

    def bomb():
        with open(program, "rb") as file:
            evil.write_bytes(file.read())
        sparse(evil, 200 * GIB)
    for name in ("/dev/zero", "/dev/stdin", "/dev/tty", "/proc/self/mem", "/proc/kmsg", "/", "x\x1b[2J", "-", "x" * 9000):
        yield f"module {name[:20]!r}", with_file(lambda: None, name)
    yield "module pipe", with_file(lambda: pipe(evil))
    yield "module folder", with_file(lambda: folder(evil))
    yield "module sparse", with_file(lambda: (evil.write_bytes(b"\x7fELF\2\1\1"), sparse(evil, 200 * GIB)))
    yield "module large", with_file(bomb)
    yield "module packed", with_file(lambda: evil.write_bytes(subprocess.run(
        ["gzip", "-c"], input=bytes(64 << 20), capture_output=True, check=True).stdout))
    if shutil.which("objcopy"):
        yield "module debug link", with_file(debug_link)
        yield "module stripped", with_file(lambda: subprocess.run(["objcopy", "--strip-debug", program, evil], check=True))

    def many_lines():
        for maps in base.glob("raw/*/maps.*"):
            maps.write_text("".join(f"{i << 12:x}-{(i + 1) << 12:x} r-xp 0 0 0 /dev/zero\n" for i in range(200_000)))
    yield "maps many", many_lines
    yield "maps garbage", lambda: [m.write_bytes(os.urandom(4096) + b"\0\n" * 999 + b"ffffffffffffffff-0 r-xp 0 0 0 x\n")
                                   for m in base.glob("raw/*/maps.*")]


# --- the folder's shape ---

def shape_attacks(base):
    process = sorted(p for p in (base / "raw").iterdir() if p.is_dir() and p.name != "bursts")
    raw = base / "raw"

    def deep():
        home = os.open(raw, os.O_RDONLY)
        place = home
        for _ in range(2000):
            os.mkdir("a", dir_fd=place)
            place = os.open("a", os.O_RDONLY, dir_fd=place)
        # Descriptors go with the test; the path is longer than any call takes.
    yield "deep", deep
    yield "many logs", lambda: [(process[0] / f"events.{i}").write_bytes(b"") for i in range(4000)]
    yield "many processes", lambda: [(raw / f"host.{i}.1").mkdir() for i in range(3000)]
    yield "odd names", lambda: [(raw / name).mkdir() for name in
                                ("a\nb.1.1", "\x1b[2J.1.1", "x.1", "...", "h..1", "..1.1", "-", "x" * 255)]
    yield "odd logs", lambda: [(process[0] / name).write_bytes(b"x" * 5000) for name in
                               ("events.4294967295", "events.-1", "events.99999999999", "events.", "events.0.tail.tail", "events.0.packed.packed",
                                "maps.4294967295", "events.\n")]

    def swapped(name):
        if len(process) > 1 and (process[0] / name).exists() and (process[1] / name).exists():
            os.rename(process[0] / name, raw / "kept")
            os.rename(process[1] / name, process[0] / name)
            os.rename(raw / "kept", process[1] / name)
    for name in ("process", "events.0.packed", "events.0.tail", "maps.0"):
        yield f"swapped {name}", lambda name=name: swapped(name)
    yield "twice", lambda: shutil.copytree(process[0], raw / "twice.1.1")
    yield "nothing", lambda: [clear(entry) for entry in base.iterdir()]
    yield "only json", lambda: [clear(entry) for entry in base.iterdir() if entry.name != "experiment.json"]


# --- all ---

def places(base):
    """Every file that is there, by kind, and names that some tool may make beside them."""
    first = {}
    for path in sorted(base.rglob("*")):
        kind = "".join(c for c in path.name if not c.isdigit()) + path.parent.name[:3]
        if path.parent.parent.name != "trace" or path.suffix not in [p.suffix for p in first.values()]:
            first.setdefault(kind, path)
    made = [base / name for name in ("experiment.json.tmp", f".experiment.json.{os.getpid()}.tmp", "names.tmp",
                                     "findings.db.tmp", "findings.db-journal", "findings.db-wal", "view.html",
                                     "view.html.tmp", "trace", "trace.tmp", "log", "heartbeat", "exclude")]
    return list(dict.fromkeys([*first.values(), *made]))


def attacks(base, outside, program):
    for path in places(base):
        name = path.relative_to(base)
        is_folder = path.is_dir()
        target = outside / ("folder" if is_folder or name.name.startswith("trace") else "file")
        for what, lead in (("file", outside / "file"), ("folder", outside / "folder"), ("new", outside / "new"),
                           ("itself", path), ("device", pathlib.Path("/dev/zero"))):
            if what in ("itself", "device") or lead == target or what == "new":
                yield f"link to {what}: {name}", lambda path=path, lead=lead: put(path).symlink_to(lead)
        yield f"pipe: {name}", lambda path=path: pipe(path)
        if not is_folder:
            yield f"folder: {name}", lambda path=path: folder(path)
            yield f"sparse: {name}", lambda path=path: sparse(path, 200 * GIB)
            if path.is_file() and path.stat().st_size > 1:
                yield f"cut: {name}", lambda path=path: os.truncate(path, path.stat().st_size // 2)
                yield f"empty: {name}", lambda path=path: os.truncate(path, 0)
    yield from json_attacks(base)
    yield from database_attacks(base, outside)
    yield from module_attacks(base, program)
    yield from shape_attacks(base)
