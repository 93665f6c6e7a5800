# SPDX-License-Identifier: Apache-2.0
"""Executes cells in a kernel (ipykernel), as Jupyter does."""
import os
import queue
import re
import shutil
import signal
import sys
import tempfile

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

_FIRST = """
import sys as _sys
_sys.argv = %r
if %r not in _sys.path: _sys.path.insert(0, %r)
def _ponk_azureml(line, cell=None):
    print("ponk: %%azureml " + line + " has no effect in a run", file=_sys.stderr)
    if cell: get_ipython().run_cell(cell)
get_ipython().register_magic_function(_ponk_azureml, "line_cell", "azureml")
del _ponk_azureml
"""


class Unavailable(Exception):
    """There is no kernel in this interpreter; the message, if any, says why one does not start."""


class Ended(Exception):
    """A cell asked for the end of the notebook, or the kernel died: the run's code."""

    def __init__(self, code, why=""):
        Exception.__init__(self, why)
        self.code = code


class Kernel(object):
    def __init__(self, book, arguments):
        try:
            import ipykernel  # noqa: F401
            from jupyter_client.manager import KernelManager
        except ImportError:
            raise Unavailable("")
        except Exception as problem:
            raise Unavailable(str(problem))
        self._book = book
        self._signal = None
        self._client = None
        # Sockets in a folder of ours: on a port of the machine, other users could read what cells print.
        self._folder = tempfile.mkdtemp(prefix="ponk-kernel-")
        self._manager = KernelManager(transport="ipc", ip=os.path.join(self._folder, "s"),
                                      connection_file=os.path.join(self._folder, "c.json"))
        try:
            self._begin(arguments)
        except Exception as problem:
            self.stop()
            raise Unavailable("%s: %s" % (type(problem).__name__, problem))

    def _begin(self, arguments):
        # Not the kernel that a file of the user's names: the packages of the run's interpreter count.
        self._manager.kernel_spec.argv[:] = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        self._manager.start_kernel()
        signal.signal(signal.SIGTERM, self._pass_on)
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=120)
        self._ask(_FIRST % (arguments, os.getcwd(), os.getcwd()), None, silent=True)

    def _pass_on(self, number, _frame):
        """The kernel has a session of its own, and cells may want to end in order."""
        self._signal = number
        try:
            self._manager.signal_kernel(number)
        except Exception:
            pass

    def stop(self):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            if self._client:
                self._client.stop_channels()
            if self._manager.has_kernel:
                self._manager.shutdown_kernel(now=True)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def run_cell(self, source, number):
        return self._ask(source, number)

    def _ask(self, source, number, silent=False):
        """None, or the name of the error that the cell ended with."""
        request = self._client.execute(source, silent=silent, store_history=not silent, allow_stdin=False)
        error = None
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=1)
            except queue.Empty:
                self._require_alive()
                continue
            except KeyboardInterrupt:
                self._manager.interrupt_kernel()
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            error = self._take(kind, content, number) or error
        return error or self._reply_error(request)

    def _require_alive(self):
        if self._manager.is_alive():
            return
        number = self._signal or 0
        raise Ended(128 + number if number else 1,
                    "" if number else "the kernel died; its last words are above, if it had any")

    def _reply_error(self, request):
        """A magic that does not exist prints its error instead of raising it: only the reply knows."""
        while True:
            try:
                reply = self._client.get_shell_msg(timeout=10)
            except queue.Empty:
                self._require_alive()
                return None
            if reply["parent_header"].get("msg_id") == request:
                content = reply["content"]
                return None if content["status"] == "ok" else content.get("ename") or "an error"

    def _take(self, kind, content, number):
        if kind == "stream":
            out = sys.stderr if content["name"] == "stderr" else sys.stdout
            out.write(content["text"])
            out.flush()
            self._book.stream(content["name"], content["text"])
        elif kind in ("execute_result", "display_data"):
            data = content["data"]
            print(data.get("text/plain") or "<%s>" % ", ".join(sorted(data)), flush=True)
            output = {"output_type": kind, "data": data, "metadata": content.get("metadata") or {}}
            if kind == "execute_result":
                output["execution_count"] = number
            self._book.add(output)
        elif kind == "clear_output":
            self._book.clear()
        elif kind == "error":
            if content["ename"] == "SystemExit":
                word = content["evalue"]
                raise Ended(int(word) if word.isdigit() else 0 if word in ("", "None") else 1,
                            "" if word.isdigit() or word == "None" else word)
            print(_COLOUR.sub("", "\n".join(content["traceback"])), file=sys.stderr, flush=True)
            self._book.add({"output_type": "error", "ename": content["ename"], "evalue": content["evalue"],
                            "traceback": content["traceback"]})
            return content["ename"]
        return None
