# SPDX-License-Identifier: Apache-2.0
"""Real packages: what they lead to without their data, and with made-up data of the columns they need."""
import json
import os
import pathlib

import pytest

from dprep_maker import delimited, files, write

pd = pytest.importorskip("pandas", reason="data preparation packages need pandas")

import ponk.dataprep  # noqa: E402
from ponk.dataprep import PackageError  # noqa: E402


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(str(tmp_path))
    return tmp_path


def message(path):
    with pytest.raises(PackageError) as problem:
        ponk.dataprep.run(path)
    return str(problem.value)


def real_folder():
    named = os.environ.get("PONK_DPREP")
    return pathlib.Path(named or pathlib.Path(__file__).resolve().parents[3] / "shared" / "dprep").resolve()


@pytest.fixture
def real(project):
    folder = real_folder()
    if not folder.is_dir():
        pytest.skip("the packages are not here: %s is no folder (PONK_DPREP names another)" % folder)
    return folder


# Name in the project, first words of the error without data.
REAL = {
    "249ca68b.dprep": ("a.dprep", "it refers to './clickEventsFromSessionsWithoutRuleCreation.dsource'"),
    "4e6d565e.dprep": ("b.dprep", "it refers to './clickEventsFromSessionsWithoutRuleCreation.dsource'"),
    "7fe2b0cc.dprep": ("c.dprep", "it refers to './testdata.dsource'"),
    "8e1bca81.dprep": ("d.dprep", "it refers to './BostonWeather.dsource'"),
    "87baea67.dprep": ("iris.dprep", "it refers to './iris.dsource'"),
    "78858969.dprep": ("bike.dprep", "blocks 'by example' are programs"),
    "3284727d.dsource": ("clickEventsFromSessionsWithoutRuleCreation.dsource", "put the file as 'clickEventsFromSessions"),
    "8d96e5b1.dsource": ("clickEventsFromSessionsWithRuleCreation.dsource", "put the file as 'clickEventsFromSessions"),
    "4cb82078.dsource": ("BostonWeather.dsource", "put the file as 'BostonWeather.csv'"),
    "9018b0e9.dsource": ("BostonWeather2.dsource", "an address that runs do not fetch"),
    "4751e55d.dsource": ("201701-hubway-tripdata.dsource", "put the file as '201701-hubway-tripdata.csv'"),
    "d63b93d0.dsource": ("201501-hubway-tripdata.dsource", "put the file as '201501-hubway-tripdata.csv'"),
    "6a71bb1d.dsource": ("iris.dsource", "the data file './iris.csv' is not there"),
}


def place(real, project, name):
    target = project / REAL[name][0]
    target.write_bytes((real / name).read_bytes())
    return str(target)


def test_every_real_file_has_a_row(real):
    assert sorted(path.name for path in real.iterdir()) == sorted(REAL)


@pytest.mark.parametrize("name", sorted(REAL))
def test_real_files_without_their_data(real, project, name):
    path = place(real, project, name)
    opened = ponk.dataprep.open_package(path)
    assert opened.dataflows and all(activity.steps for activity in opened.dataflows)
    assert REAL[name][1] in message(path)


def test_blocks_by_example_of_the_real_package(real, project):
    path = place(real, project, "78858969.dprep")
    assert "activity 'BostonWeather', block 7 (SplitColumnByExampleBlock), column 'DATE': " in message(path)
    with pytest.raises(PackageError, match=r"activity '201701-hubway-tripdata', block 5 \(DeriveColumnByExample\), column 'Column'"):
        ponk.dataprep.run(path, 1)
    with pytest.raises(PackageError, match=r"activity 'Join Result', block 2 \(DeriveColumnByExample\)"):
        ponk.dataprep.run(path, 2)


def test_the_real_iris_package(real, project):
    (project / "iris.csv").write_text("5.1,3.5,1.4,0.2,Iris-setosa\n7,3.2,4.7,1.4,Iris-versicolor\n\n")
    place(real, project, "6a71bb1d.dsource")
    frame = ponk.dataprep.run(place(real, project, "87baea67.dprep"))
    assert list(frame.columns) == ["Sepal Length", "Sepal Width", "Petal Length", "Petal Width", "Species"]
    assert list(frame["Species"]) == ["Iris-setosa", "Iris-versicolor"] and list(frame["Sepal Length"]) == [5.1, 7.0]


CLICKS = ("user_id,user_session_log_id,client_event_timestamp,client_event_object_name,client_event_parm1_string,"
          "user_account_type,user_data_source\n"
          "1,2,2017-09-25T10:00:00.000+0000,menu,btn_ok,free,web\n1,2,2017-09-25T10:00:01.000+0000,page,other,free,web\n")


def test_the_real_click_packages(real, project):
    for name in ("3284727d.dsource", "8d96e5b1.dsource"):
        source = place(real, project, name)
        (project / (pathlib.Path(source).stem + ".csv")).write_text(CLICKS)
        frame = ponk.dataprep.run(source)
        assert list(frame["user_id"]) == [1.0, 1.0] and frame["client_event_timestamp"].dtype.kind == "M"
        assert frame["client_event_timestamp"][1] == pd.Timestamp(2017, 9, 25, 10, 0, 1)
    assert list(ponk.dataprep.run(place(real, project, "249ca68b.dprep"))["label"]) == [1, 1]
    frame = ponk.dataprep.run(place(real, project, "4e6d565e.dprep"))
    assert list(frame.columns) == ["user_id", "user_session_log_id", "client_event_timestamp", "label", "client_events",
                                   "client_event__menu:btn_ok", "client_event__page"]


HUBWAY = ("tripduration,starttime,stoptime,start station id,start station latitude,start station longitude,end station id,"
          "end station latitude,end station longitude,bikeid,gender\n"
          "542,2017-01-01 00:06:58,2017-01-01 00:16:01,55,42.3,-71.0,28,42.4,-71.1,1\n")


def test_the_real_sources_of_trips_and_weather(real, project):
    single = place(real, project, "4751e55d.dsource")
    (project / "201701-hubway-tripdata.csv").write_text(HUBWAY)
    frame = ponk.dataprep.run(single)
    assert list(frame["tripduration"]) == [542.0] and frame["starttime"][0] == pd.Timestamp(2017, 1, 1, 0, 6, 58)
    several = place(real, project, "d63b93d0.dsource")
    text = json.loads(pathlib.Path(several).read_text(encoding="utf-8-sig"))
    names = [detail["path"].split("/")[-1] for detail in text["activities"][0]["blocks"][0]["arguments"]["path"]["resourceDetails"]]
    for name in names:
        (project / name).write_text(HUBWAY)
    assert len(names) == 6 and len(ponk.dataprep.run(several)) == 6
    (project / "BostonWeather.csv").write_text("DATE,REPORTTPYE\n1/1/2015 0:54,FM-15\n")
    weather = ponk.dataprep.run(place(real, project, "4cb82078.dsource"))
    assert weather["DATE"][0] == pd.Timestamp(2015, 1, 1, 0, 54)
    assert len(ponk.dataprep.run(place(real, project, "9018b0e9.dsource"))) == 1
    assert len(ponk.dataprep.run(place(real, project, "8e1bca81.dprep"))) == 1


def test_the_real_package_of_test_data(real, project):
    path = place(real, project, "7fe2b0cc.dprep")
    (project / "d.csv").write_text("a,b\n1,x\n2,y\n")
    write(project / "testdata.dsource", ("testdata", files("d.csv"), delimited()))
    assert len(ponk.dataprep.run(path)) == 2
