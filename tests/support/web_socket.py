# SPDX-License-Identifier: Apache-2.0
"""A WebSocket as a browser opens one, and what a browser would never send."""
import base64
import json
import socket
import struct

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10

# Browsers choose these by chance; a test is the same each time.
MASK = bytes([0x37, 0xfa, 0x21, 0x3d])
KEY = base64.b64encode(bytes(range(16))).decode()


class Closed(Exception):
    """The other side has closed it, with this code (None: without a word)."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed: {code} {reason}")
        self.code, self.reason = code, reason


def frame(text, kind=TEXT, last=True, masked=True):
    content = text.encode() if isinstance(text, str) else text
    size = len(content)
    head = bytes([(0x80 if last else 0) | kind])
    bit = 0x80 if masked else 0
    head += bytes([bit | size]) if size < 126 else bytes([bit | 126]) + struct.pack(">H", size) if size < 65536 else bytes([bit | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + content
    return head + MASK + bytes(byte ^ MASK[at % 4] for at, byte in enumerate(content))


class WebSocket:
    def __init__(self, port, path="/api/v1/ui/live", headers=None, timeout=30):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        wanted = {"Host": f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": KEY, **(headers or {})}
        self.socket.sendall(f"GET {path} HTTP/1.1\r\n".encode() + "".join(f"{name}: {value}\r\n" for name, value in wanted.items()).encode() + b"\r\n")
        self.seen = b""
        while b"\r\n\r\n" not in self.seen:
            self._more()
        head, _, self.seen = self.seen.partition(b"\r\n\r\n")
        self.status = int(head.split()[1])

    def _more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise Closed(None)
        self.seen += piece

    def _take(self, size):
        while len(self.seen) < size:
            self._more()
        taken, self.seen = self.seen[:size], self.seen[size:]
        return taken

    def send(self, value):
        self.socket.sendall(frame(value if isinstance(value, (str, bytes)) else json.dumps(value)))

    def receive(self):
        """The next message; pings are answered on the way."""
        while True:
            kind, size = self._take(2)
            assert size < 128, "a server masks nothing"
            if size >= 126:
                size = struct.unpack(">H", self._take(2))[0] if size == 126 else struct.unpack(">Q", self._take(8))[0]
            content = self._take(size)
            if kind == 0x80 | PING:
                self.socket.sendall(frame(content, PONG))
            elif kind == 0x80 | CLOSE:
                raise Closed(struct.unpack(">H", content[:2])[0], content[2:].decode())
            elif kind == 0x80 | TEXT:
                return json.loads(content)

    def closed(self):
        """The code with which it ends, whatever comes before."""
        try:
            while True:
                self.receive()
        except Closed as end:
            return end.code
        except ConnectionError:
            return None

    def until(self, holds):
        """The first message for which that holds."""
        while True:
            message = self.receive()
            if holds(message):
                return message

    def enter(self, session, *subjects):
        self.send({"hello": session})
        assert "hello" in self.receive()
        for subject in subjects:
            self.send({"watch": subject} if isinstance(subject, str) else subject)
        return self

    def close(self):
        self.socket.close()
