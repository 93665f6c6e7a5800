# SPDX-License-Identifier: Apache-2.0
"""A script that changes its own run directory, which it may write to: nothing outside is touched, nothing false is told."""
import engine as engines
import pytest

REACH = """import os
os.makedirs('outputs', exist_ok=True)
open('outputs/planted.sh', 'w').write('echo planted')
for name in ('work', 'record.json', 'end.json', '../work', '../../../../record.json', '../../../../work'):
    assert not os.path.lexists('/.ponk/run/' + name), name
os.symlink({thesis!r}, '/.ponk/run/work')
os.makedirs('/.ponk/run/attempts')
os.symlink({thesis!r}, '/.ponk/run/attempts/1')
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
def test_a_script_reaches_neither_the_place_of_its_tree_nor_the_runs_record(docker, thesis, shared):
    use_tree(docker, shared)
    docker.write("a.py", REACH.format(thesis=str(thesis)))

    said = docker.run("submit", "-c", "docker", "a.py").stdout.decode()

    assert said == "done\n"
    folder = docker.home / "runs" / docker.json("history", "last")["run_id"]
    assert (folder / "record.json").is_file() and (folder / "work").is_dir() and not (folder / "work").is_symlink()
    assert sorted(place.name for place in (thesis / "outputs").iterdir()) == ["results.csv"]
    run = docker.json("history", "info", "last")
    assert [name for name in run["attachments"].split(",") if name.startswith("outputs/")] == ["outputs/planted.sh"], run
    docker.run("experiment", "clean", "last", "--yes")
    assert (thesis / "train.py").read_text() == "the user's own"
