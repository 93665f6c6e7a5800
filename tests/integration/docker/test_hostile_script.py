# SPDX-License-Identifier: Apache-2.0
"""A script that changes its own run directory, which it may write to: nothing outside is touched, nothing false is told."""
import engine as engines
import pytest

SWAP = """import os
os.makedirs('outputs', exist_ok=True)
open('outputs/planted.sh', 'w').write('mine')
os.rename('/.ponk/run/work', '/.ponk/run/w2')
os.symlink({thesis!r}, '/.ponk/run/work')
print('done')
"""


@pytest.fixture
def thesis(tmp_path):
    """A folder of the user's that no container has mounted."""
    folder = tmp_path / "thesis"
    (folder / "outputs").mkdir(parents=True)
    (folder / "outputs/results.csv").write_text("years of work")
    (folder / "train.py").write_text("the user's own")
    return folder


def use_tree(docker, shared):
    docker.write("aml_config/docker.compute",
                 f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: {str(shared).lower()}\n")


@pytest.mark.parametrize("shared", [False, True])
def test_link_in_the_place_of_the_tree_leads_nowhere(docker, thesis, tmp_path, shared):
    use_tree(docker, shared)
    docker.write("a.py", SWAP.format(thesis=str(thesis)))

    assert docker.run("submit", "-c", "docker", "a.py").stdout == b"done\n"

    assert sorted(place.name for place in (thesis / "outputs").iterdir()) == ["results.csv"]
    assert (thesis / "outputs/results.csv").read_text() == "years of work"
    run = docker.json("history", "info", "last")
    got = [name for name in run["attachments"].split(",") if name.startswith("outputs/")]
    if shared:
        assert got == [] and any("'work' is a link" in warning for warning in run["warnings"]), run
    else:
        assert got == ["outputs/planted.sh"], run
    done = docker.run("experiment", "return", "last", "-d", tmp_path / "back", code=None)
    assert not (tmp_path / "back/train.py").exists(), done.stderr
    docker.run("experiment", "clean", "last")
    assert (thesis / "train.py").read_text() == "the user's own"
