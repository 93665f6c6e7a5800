# SPDX-License-Identifier: Apache-2.0
"""An SSH server that asks for what it should not know, and keeps what it is told."""
import socket
import threading

import paramiko


class HostileServer:
    """Asks every user the same question, through keyboard-interactive, and then turns them away. The first `friendly`
    connections it serves as a jump host does, without a question: nobody learns early what it is."""

    def __init__(self, question, host="127.0.0.2", friendly=0):
        self.question = question
        self.host = host
        self.friendly = friendly
        self.told = []
        self.asked = 0
        self.key = paramiko.ECDSAKey.generate()
        self.listener = socket.create_server((host, 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)  # closing alone leaves the thread in its accept
        self.thread.join()
        self.listener.close()

    def known_hosts_line(self):
        return f"[{self.host}]:{self.port} {self.key.get_name()} {self.key.get_base64()}\n"

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            friendly, self.friendly = self.friendly > 0, self.friendly - 1
            transport = paramiko.Transport(connection)
            transport.add_server_key(self.key)
            transport.start_server(event=threading.Event(), server=Asking(self, friendly))
            if friendly:
                threading.Thread(target=pass_on, args=(transport,), daemon=True).start()


def pass_on(transport):
    channel = transport.accept(30)
    if channel is None:
        return
    there = socket.create_connection(transport.server_object.destination)

    def pump(read, write, end):
        try:
            while data := read(65536):
                write(data)
        except OSError:
            pass
        end()

    threading.Thread(target=pump, args=(channel.recv, there.sendall, lambda: there.shutdown(socket.SHUT_WR)), daemon=True).start()
    pump(there.recv, channel.sendall, channel.close)
    transport.close()


class Asking(paramiko.ServerInterface):
    def __init__(self, server, friendly):
        self.server = server
        self.friendly = friendly
        self.destination = None

    def check_auth_none(self, username):
        return paramiko.AUTH_SUCCESSFUL if self.friendly else paramiko.AUTH_FAILED

    def check_channel_direct_tcpip_request(self, chanid, origin, destination):
        self.destination = destination
        return paramiko.OPEN_SUCCEEDED if self.friendly else paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def get_allowed_auths(self, username):
        return "keyboard-interactive"

    def check_auth_interactive(self, username, submethods):
        self.server.asked += 1
        return paramiko.InteractiveQuery("", "", (self.server.question, False))

    def check_auth_interactive_response(self, responses):
        self.server.told += responses
        return paramiko.AUTH_FAILED
