# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""`culprit view --serve` and those who talk to it: browsers, and programs that mean it ill. Whatever they send, only who
knows the token gets anything, everybody else is refused at little cost, and the next request is served."""

import contextlib
import gzip
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, mpirun, succeed

PATIENCE_S = 60  # of a client on a busy machine; the server's own is 10 s
MOST_CLIENTS = 64


class Server:
    """culprit view --serve of a small run."""

    def __init__(self, place, name="run", most_files=None):
        self.run = place.experiment(name)
        succeed([place.culprit, "run", "-q", "-o", self.run, "--", *mpirun(2, place.program("late_sender"))])
        self.before = self.files()
        command = [str(place.culprit), "view", self.run, "--serve"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, **harness.sanitizer_environment(command)})
        if most_files:
            resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (most_files, most_files))
        self.address = self.process.stdout.readline().strip()
        self.base, self.token = self.address.split("?token=")
        self.at = ("127.0.0.1", int(self.base.rsplit(":", 1)[1].strip("/")))
        self.host = f"127.0.0.1:{self.at[1]}"

    def files(self):
        """What is in the experiment, and of which contents."""
        found = {}
        for folder, _, names in os.walk(self.run):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[path] = hash(file.read())
        return found

    def connect(self):
        return socket.create_connection(self.at, timeout=PATIENCE_S)

    def get(self, address=None, **headers):
        """(status, body)"""
        request = urllib.request.Request(address or self.address, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def send(self, *parts):
        """All that comes back until the server ends the connection; it may do so before all is sent."""
        with self.connect() as client:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                for part in parts:
                    client.sendall(part)
            back = b""
            with contextlib.suppress(ConnectionResetError):
                while part := client.recv(1 << 16):
                    back += part
            return back

    def request(self, target=None, method="GET", host=None, more=""):
        return (f"{method} {target or f'/?token={self.token}'} HTTP/1.1\r\nHost: {host or self.host}\r\n"
                f"{more}\r\n").encode("latin-1")

    def check_serves(self, after):
        status, page = self.get()
        check(status == 200 and b"culprit-data" in page, f"after {after}: status {status}")

    def connections(self):
        """Of which the server holds a file: in its process, that are no listening socket."""
        folder = f"/proc/{self.process.pid}/fd"
        found = 0
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                found += os.readlink(f"{folder}/{name}").startswith("socket:")
        return found - 1

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        check(self.process.wait(timeout=PATIENCE_S) == 0, f"after {how.name} it ended with {self.process.returncode}")
        check(self.files() == self.before, "the experiment is not as it was before it was served")


def served(test):
    """A test of a server, which lives as long as the test."""
    def run(place):
        server = Server(place)
        try:
            test(server)
        except BaseException:
            server.process.kill()
            raise
        server.end()
    return run


def status_of(answer):
    """Of an answer as it came; 0 if none came."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


@served
def page(server):
    """Only who knows the token gets anything, and only by a name of this machine."""
    status, whole = server.get()
    check(status == 200 and b"culprit-data" in whole, f"the page: status {status}")
    status, part = server.get(f"{server.base}part?token={server.token}&from=0&to=0.5&ranks=0")
    check(status == 200, f"a part: status {status}, {part[:100]}")
    data = gzip.decompress(part)
    head = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    check(head["tables"]["activities"]["rows"] > 0, f"the part has no activities: {head}")
    check(server.get(f"{server.base}?from=%31&tok%65n={server.token}")[0] == 200, "escapes are not understood")
    check(server.get(f"http://localhost:{server.at[1]}/?token={server.token}")[0] == 200, "localhost is refused")
    token = server.token
    wrong = {"no token": server.base, "an empty token": f"{server.base}?token=", "a longer token": f"{server.address}x",
             "a shorter token": server.address[:-1], "a token that differs": f"{server.base}?token={token[::-1]}x",
             "another case": f"{server.base}?token={token.upper()}X", "a zero": f"{server.address}%00",
             "a wrong token after the right one": f"{server.address}&token=x"}
    for what, address in wrong.items():
        check(server.get(address)[0] == 403, f"{what} was not refused")
    for what, query in (("no such page", f"other?token={token}"), ("ranks", f"part?token={token}&ranks=x")):
        status = server.get(f"{server.base}{query}")[0]
        check(status == 404, f"{what}: status {status}")
    server.check_serves("refusals")


@served
def hosts(server):
    """A page elsewhere may get a browser to ask here, but then the host's name is not this machine's."""
    port = server.at[1]
    for host in ("example.org", f"example.org:{port}", "127.0.0.1", "localhost", f"127.0.0.1:{port}0", f"127.0.0.1:{port}.",
                 f"127.0.0.1.example.org:{port}", f"example.org@127.0.0.1:{port}", f"127.1:{port}", f"0.0.0.0:{port}",
                 f"127.0.0.1:{port}, example.org", f"127.0.0.1:{port}\x00", f"[::1]:{port}"):
        status = status_of(server.send(server.request(host=host)))
        check(status in (0, 400, 403), f"host {host!r}: status {status}")
    good, line = f"Host: {server.host}\r\n", f"GET /?token={server.token} HTTP/1.1\r\n"
    for what, head in (("no host", line), ("an empty one", f"{line}Host:\r\n"),
                       ("two", f"{line}{good}Host: example.org\r\n"), ("two, the other way", f"{line}Host: example.org\r\n{good}"),
                       ("twice the same", f"{line}{good}{good}"), ("one after a fold", f"{line}Host: example.org\r\n {server.host}\r\n"),
                       ("one with a blank", f"{line}Host : {server.host}\r\n"), ("one in a value", f"{line}X: a\nHost: {server.host}\r\n"),
                       ("another name's", f"{line}X-Host: {server.host}\r\n"),
                       ("one of the target", f"GET http://{server.host}/?token={server.token} HTTP/1.1\r\nHost: example.org\r\n")):
        status = status_of(server.send(f"{head}\r\n".encode()))
        check(status in (0, 400, 403), f"{what}: status {status}")
    server.check_serves("other hosts")


@served
def loopback(server):
    """Nobody else's machine can reach it."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        listening = [fields[1] for fields in map(str.split, file) if fields[3] == "0A" and
                     fields[1].endswith(f":{server.at[1]:04X}")]
    check(listening == [f"0100007F:{server.at[1]:04X}"], f"it listens on {listening}")
    with open("/proc/net/tcp6", encoding="ascii") as file:
        check(not [line for line in file if f":{server.at[1]:04X} " in line.split()[1] + " "], "it listens on IPv6")


@served
def paths(server):
    """There are two pages and no files, whatever a path looks like."""
    for path in ("/../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                 "/part/../../etc/passwd", "/findings.db", "/./", "//", "/part/", "/part%00", "/%00", "/part;x", "/PART",
                 "/" + "a/" * 4000, "/%", "/%zz", "/%c0%ae%c0%ae/", "/\xff\xfe", "/file:///etc/passwd"):
        answer = server.send(server.request(f"{path}?token={server.token}"))
        check(status_of(answer) in (400, 404), f"{path[:60]!r}: {answer[:60]}")
        check(b"root:" not in answer, f"{path[:60]!r} has a file")
    server.check_serves("paths")


@served
def methods(server):
    """It is asked for things and never given any: nothing is written, and of a body nothing is read as a request."""
    second = server.request()
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "PROPFIND", "get", "G\u00cbT", "HEAD",
                   "GETT", "X" * 5000):
        answer = server.send(server.request(method=method, more="Content-Length: 5\r\n"), b"hello")
        check(status_of(answer) in (0, 400, 403, 404, 405, 501), f"{method[:20]}: {answer[:60]}")
    bodies = (f"Content-Length: {len(second)}\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 0\r\n",
              "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "Content-Length: -1\r\n",
              "Content-Length: 99999999999999999999999999\r\n", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n",
              "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n")
    for more in bodies:
        answer = server.send(server.request("/nothing", more=more), second)
        check(status_of(answer) in (0, 400, 403, 404) and b"culprit-data" not in answer and answer.count(b"HTTP/1.1 ") <= 1,
              f"a second request got through {more!r}: {answer[:200]}")
    server.check_serves("methods")


@served
def garbage(server):
    """What is no request is refused, or its connection ends."""
    good = server.request()
    line = f"GET /?token={server.token} HTTP/1.1"
    host = f"Host: {server.host}"
    for what, sent in (("zeros", bytes(3000) + b"\r\n\r\n"), ("line ends", b"\r\n" * 3000), ("every byte", bytes(range(256)) * 40 + b"\r\n\r\n"),
                       ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300) + b"\r\n\r\n"),
                       ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), ("HTTP/0.9", f"GET /?token={server.token}\r\n\r\n".encode()),
                       ("HTTP/9.9", f"GET /?token={server.token} HTTP/9.9\r\n{host}\r\n\r\n".encode()),
                       ("no target", f"GET  HTTP/1.1\r\n{host}\r\n\r\n".encode()), ("no blank", f"GET/ HTTP/1.1\r\n{host}\r\n\r\n".encode()),
                       ("more blanks", f"GET / ?token={server.token} HTTP/1.1\r\n{host}\r\n\r\n".encode()),
                       ("an asterisk", f"GET * HTTP/1.1\r\n{host}\r\n\r\n".encode()),
                       ("a zero in a header", f"{line}\r\n{host}\r\nX: a\0b\r\n\r\n".encode()),
                       ("a header with no name", f"{line}\r\n: a\r\n{host}\r\n\r\n".encode()),
                       ("a header with no colon", f"{line}\r\nabc\r\n{host}\r\n\r\n".encode()),
                       ("line feeds alone", f"{line}\n{host}\n\n".encode())):
        answer = server.send(sent, b"\r\n\r\n")
        check(b"culprit-data" not in answer, f"{what} is served: {answer[:80]}")
        check(status_of(answer) in (0, 400, 403, 404), f"{what}: {answer[:80]}")
    for size in range(1, len(good), 7):  # ended in the middle
        with server.connect() as client:
            client.sendall(good[:size])
            client.shutdown(socket.SHUT_WR)
            check(client.recv(100) == b"", f"an answer to {good[:size]}")
    server.check_serves("garbage")


@served
def sizes(server):
    """Nobody's head is kept that is longer than a browser's."""
    more = "".join(f"X-{i}: {i}\r\n" for i in range(900))  # 12 KiB
    check(status_of(server.send(server.request(more=more))) == 200, "a long head of a browser is refused")
    line = f"GET /?token={server.token} HTTP/1.1\r\nHost: {server.host}\r\n".encode()
    for what, start, part in (("a header", line + b"X: ", b"a" * 65536), ("headers", line, b"X: a\r\n" * 10000),
                              ("a target", b"GET /?", b"a" * 65536), ("a query", b"GET /?", b"a=b&" * 16384),
                              ("a method", b"", b"G" * 65536), ("line ends", b"", b"\r\n" * 32768)):
        answer = server.send(start, *[part] * 64)
        check(status_of(answer) != 200, f"{what} of 4 MiB is accepted")
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    check("CULPRIT_SANITIZER_RUNTIME" in os.environ or peak < 400_000, f"the server took {peak} kB")
    server.check_serves("long heads")


@served
def waiting(server):
    """Browsers open connections ahead, and say nothing on them; others are slow, or never take what they asked for. Nobody
    else waits for them, however many there are."""
    with server.connect() as idle, server.connect() as slow:
        slow.sendall(f"GET /?token={server.token} HTTP/1.1\r\nHo".encode())
        server.check_serves("a connection that is idle")
        idle.setblocking(False)
        try:
            check(False, f"the idle connection had to end before the page came: {idle.recv(1)}")
        except BlockingIOError:
            pass
        slow.sendall(f"st: {server.host}\r\n\r\n".encode())
        check(slow.makefile("rb").readline().startswith(b"HTTP/1.1 200"), "a request in pieces is not answered")
    begin = server.request()[:20]
    for what, sent in (("say nothing", b""), ("say little", begin), ("take nothing", server.request())):
        with contextlib.ExitStack() as clients:
            crowd = [clients.enter_context(server.connect()) for _ in range(3 * MOST_CLIENTS)]
            for client in crowd:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    client.sendall(sent)
            stop = threading.Event()
            threading.Thread(target=drip, args=(crowd if sent == begin else [], stop), daemon=True).start()
            for _ in range(3):
                server.check_serves(f"many that {what}")
            check(server.connections() <= MOST_CLIENTS, f"of many that {what} it holds {server.connections()}")
            stop.set()
    server.check_serves("all of them")


def few_files(place):
    """Also where the process may have no more files than connections come."""
    server = Server(place, most_files=24)
    try:
        with contextlib.ExitStack() as clients:
            for _ in range(MOST_CLIENTS):
                clients.enter_context(server.connect())
            server.check_serves("more than it may have files")
        server.end()
    finally:
        server.process.kill()
        server.process.wait()


def drip(clients, stop):
    """A byte now and then."""
    while not stop.wait(0.02):
        for client in clients:
            with contextlib.suppress(OSError):
                client.send(b"x")


def ends(place):
    """When it is asked to, whoever is connected."""
    for how in (signal.SIGINT, signal.SIGTERM):
        server = Server(place, how.name)
        try:
            with server.connect() as idle, server.connect() as slow, server.connect() as greedy:
                slow.sendall(server.request()[:20])
                greedy.sendall(server.request())
                server.check_serves("three that wait")
                server.end(how)
        finally:
            server.process.kill()
            server.process.wait()


TESTS = {"page": page, "hosts": hosts, "loopback": loopback, "paths": paths, "methods": methods, "garbage": garbage,
         "sizes": sizes, "waiting": waiting, "few_files": few_files, "ends": ends}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
