# SPDX-License-Identifier: Apache-2.0
"""Cancel of a run whose container engine does not answer: nothing is called over that goes on."""
import os
import pathlib
import signal
import tempfile
import time

import pytest

import engine as engines


@pytest.fixture
def own():
    """An engine of the test's own, whose containers outlive it."""
    reason = engines.missing()
    if reason:
        pytest.skip(reason)
    engine = engines.Engine(tempfile.mkdtemp(prefix="pe", dir="/tmp"), ["--live-restore"])
    engine.start()
    try:
        engine.load_base()
        yield engine
    finally:
        if engine.process.poll() is None:
            engine.process.send_signal(signal.SIGCONT)
            for name in engine.docker("ps", "-q").split():
                engine.docker("rm", "-f", name)
            engine.stop()
        engine.remove()


@pytest.mark.parametrize("how", ["stopped", pytest.param("killed", marks=pytest.mark.full)])
def test_cancel_while_the_engine_is_away(ponk, own, how):
    ponk.environment["DOCKER_HOST"] = f"unix://{own.socket}"
    ponk.environment["PATH"] = os.environ["PATH"]
    ponk.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\n")
    ponk.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: false\n")
    ponk.write("wait.py", "import time\nfor i in range(6000): print(i, flush=True); time.sleep(0.1)\n")
    ponk.run("submit", "-c", "docker", "--async", "wait.py")
    run = wait_for(ponk, lambda run: run["status"] == "Running")["run_id"]
    first = pathlib.Path(f"/proc/{own.docker('inspect', '-f', '{{.State.Pid}}', run).strip()}")

    if how == "stopped":
        own.process.send_signal(signal.SIGSTOP)
    else:
        own.stop(signal.SIGKILL)
    ponk.run("cancel", run)

    away = wait_for(ponk, lambda run: run.get("unreachable"))
    assert away["status"] == "Running", away
    assert "docker.sock" in away["unreachable"]["reason"], away
    # It is still followed: what the script says comes.
    length = len(ponk.text("logs", run))
    for _ in range(300):
        if len(ponk.text("logs", run)) > length:
            break
        time.sleep(0.1)
    assert len(ponk.text("logs", run)) > length
    assert first.exists()
    # A daemon that starts now knows it, too.
    ponk.run("daemon", "stop")
    away = wait_for(ponk, lambda run: run.get("unreachable"))
    assert away["status"] == "Running", away

    if how == "stopped":
        own.process.send_signal(signal.SIGCONT)
    else:
        own.start()

    ended = wait_for(ponk, lambda run: run["status"] not in ("Running", "Finalizing"))
    assert ended["status"] == "Canceled", ended
    assert run not in own.docker("ps", "--format", "{{.Names}}").split()
    assert not first.exists()


def wait_for(ponk, wanted, seconds=90):
    for _ in range(seconds * 10):
        run = ponk.json("history", "info", "last")
        if wanted(run):
            return run
        time.sleep(0.1)
    raise AssertionError(run)
