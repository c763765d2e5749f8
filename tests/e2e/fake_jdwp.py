"""fake_jdwp.py - an app's VM as `heapdb capture --adb --allocations` sees it: a port of this machine that speaks
JDWP with Android's chunks, in the manner that a mode names."""
import socket, struct, threading, time

SHAKE = b"JDWP-Handshake"
REFUSAL = "the tracker is busy, \u00e4h"


def packet(number, flags, code, body=b""):
    return struct.pack(">IIBH", 11 + len(body), number, flags, code) + body


def chunk(name, body=b""):
    return name + struct.pack(">I", len(body)) + body


# What a VM sends by itself: its name, an event of a debugger, the answer to a question of somebody else.
EVENTS = (packet(7, 0, 199 << 8 | 1, chunk(b"APNM", struct.pack(">I", 3) + "app".encode("utf-16-be"))) +
          packet(8, 0, 64 << 8 | 100, b"\0\0\0\0\0") + packet(0x40000000, 0x80, 0, chunk(b"REAL", b"no")))


class Vm:
    def __init__(self, mode, record, mutate=None):
        self.mode, self.record, self.mutate = mode, record, mutate
        self.is_on = mode == "on"
        self.log = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        self.listener.close()

    def run(self):
        while True:
            try:
                s = self.listener.accept()[0]
            except OSError:
                return
            try:
                self.serve(s)
            except OSError:
                pass
            self.log.append("closed")
            s.close()

    def serve(self, s):
        if self.mode == "closes" or s.recv(len(SHAKE), socket.MSG_WAITALL) != SHAKE:
            return
        if self.mode == "silent":
            s.recv(1)
            return
        s.sendall(self.changed(b"JDWP-handshake" if self.mode == "stranger" else SHAKE))
        while True:
            head = s.recv(11, socket.MSG_WAITALL)
            if len(head) < 11:
                return
            size, number, flags, code = struct.unpack(">IIBH", head)
            body = s.recv(size - 11, socket.MSG_WAITALL)
            name, length, data = body[:4], struct.unpack(">I", body[4:8])[0], body[8:]
            if flags or code != 199 << 8 | 1 or length != len(data):
                self.log.append("broken request")
                return
            self.log.append(name.decode() + "".join(str(b) for b in data))
            if not self.answer(s, number, name, data):
                return

    def answer(self, s, number, name, data):
        """False: hangs up. What has nothing to say is not answered, by an agent (Android 8) with nothing."""
        body, code = b"", 0
        if name == b"REAE":
            self.is_on = data == b"\1" and self.mode != "stuck"
        elif name == b"REAQ" and self.mode not in ("new", "new agent"):
            body = chunk(b"REAQ", bytes([self.is_on]))
        elif name == b"REAL" and self.mode != "agent empty":
            body = chunk(b"REAL", self.record if self.is_on else b"")
        if name == b"REAL":
            if self.mode == "fail":
                body = chunk(b"FAIL", struct.pack(">II", 1, len(REFUSAL)) + REFUSAL.encode("utf-16-be"))
            elif self.mode == "error":
                code = 99
            elif self.mode == "liar":
                body = body[:4] + struct.pack(">I", 1 << 31) + body[8:]
            elif self.mode == "other":
                body = chunk(b"LAER", b"abc")
            elif self.mode == "huge":
                s.sendall(struct.pack(">IIBH4sI", 0xffffffff, number, 0x80, 0, b"REAL", 0xffffffff - 19))
                return False
            elif self.mode == "short":
                s.sendall(struct.pack(">IIBH", 10, number, 0x80, 0))
            elif self.mode == "hangs":
                return True
            elif self.mode == "dies":
                s.sendall(packet(number, 0x80, 0, body)[:40])
                return False
            elif self.mode == "endless":
                while True:
                    s.sendall(EVENTS * 100)
        if not body and "agent" not in self.mode:
            return True
        whole = EVENTS + packet(number, 0x80, code, body) + EVENTS
        whole = self.changed(whole)
        for at in range(0, len(whole), 97) if len(whole) < 10000 else range(0, len(whole), 10000):
            s.sendall(whole[at:at + (97 if len(whole) < 10000 else 10000)])
            time.sleep(0.001 if self.mode == "pieces" else 0)
        return True

    def changed(self, data):
        return self.mutate(data) if self.mutate else data
