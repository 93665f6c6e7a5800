# SPDX-License-Identifier: Apache-2.0
import host as hosts
import engine as engines
import pytest
import storm_remote


def test_twenty_cuts(program, tmp_path_factory):
    reason = hosts.missing() or engines.missing()
    if reason:
        pytest.skip(reason)

    assert storm_remote.weather(program, tmp_path_factory.mktemp("s"), 20, 1) == []
