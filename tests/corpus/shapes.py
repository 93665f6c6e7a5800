# SPDX-License-Identifier: Apache-2.0
"""Project folders made from the real texts: what a person of 2017 had on disk, and what submitting there must do.

Each folder has one local run configuration (with a local target where the schema has one) and around it the files that
such a folder usually held: other targets and run configurations, dependency files, ignore rules, the project file. The
texts stay where they are; folders are made in a temporary place when the test runs.
"""
import dataclasses
import enum
import itertools
import json
import pathlib
import shutil

EXPECTATIONS = json.loads((pathlib.Path(__file__).parent / "expectations.json").read_text())

SCRIPT = '''\
import json, os, sys
names = ("EXAMPLE_ENV_VAR", "AZUREML_NATIVE_SHARE_DIRECTORY")
os.makedirs("outputs", exist_ok=True)
with open("outputs/model.txt", "w") as model:
    model.write("trained")
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "env": {name: os.environ.get(name) for name in names}}))
'''


class Outcome(enum.Enum):
    """What `submit -c local train.py` has to come to."""
    RUNS = "runs"
    PYSPARK = "runs when Spark is found, else an error that names spark-submit or pyspark"
    INTERPRETER = "an error that names the interpreter, which is not on this machine"
    ENVIRONMENT = "runs, or an error that names the environment it would have to build"
    NO_LOCAL = "runs with the defaults, or an error that names the missing run configuration"


@dataclasses.dataclass
class Shape:
    name: str
    outcome: Outcome
    files: dict = dataclasses.field(default_factory=dict)  # path in the project -> name in the corpus ("compute/0c55…")
    environment: dict = dataclasses.field(default_factory=dict)  # what the script must see
    share: str | None = None  # base of the shared folder, as written

    def __str__(self):
        return self.name


def texts(kind, keep=lambda name, entry: True):
    return [name for name, entry in EXPECTATIONS.items() if entry["kind"] == kind and keep(name, entry)]


def runs_here(_, entry):
    """A run configuration for this machine without a container."""
    if not entry["ok"] or entry["meaning"]["target"] != "local":
        return False
    return entry["schema"] == "2017" or not entry["values"]["environment"]["docker"]["enabled"]


def outcome_of(entry):
    # Where it is meant by silence, a script that does not import pyspark runs as Python.
    if entry["meaning"]["framework"] == "PySpark" and any(key.lower() == "framework" for key in entry["values"]):
        return Outcome.PYSPARK
    python = entry["values"].get("environment", {}).get("python", {})
    if python.get("interpreterPath", "python").startswith("sha256:"):
        return Outcome.INTERPRETER
    if python.get("userManagedDependencies") is False:
        return Outcome.ENVIRONMENT
    return Outcome.RUNS


def variables_of(entry):
    values = entry["values"]
    return values.get("EnvironmentVariables") or values.get("environment", {}).get("environmentVariables") or {}


def local_shape(runconfig, computes):
    """The pair alone; the second schema knows `local` without a file."""
    entry = EXPECTATIONS[runconfig]
    shape = Shape(runconfig[10:], outcome_of(entry), {"aml_config/local.runconfig": runconfig}, variables_of(entry))
    if entry["schema"] == "2017":
        compute = next(computes)
        shape.name += f"+{compute[8:]}"
        shape.files["aml_config/local.compute"] = compute
        shape.share = EXPECTATIONS[compute]["values"].get("nativeSharedDirectory", "~/.azureml/share/")
    return shape


def pairs():
    """Every local run configuration once, every local target at least once."""
    computes = itertools.cycle(texts("compute", lambda _, entry: entry["ok"] and entry["meaning"]["type"] == "local"))
    return [local_shape(runconfig, computes) for runconfig in texts("runconfig", runs_here)]


def furnished():
    """Whole folders: each text of the corpus stands in at least one of them, the broken ones too.

    A local run with Python uses neither the other targets nor the dependency files, so none of them may stop it.
    """
    plain = itertools.cycle([shape for shape in pairs() if shape.outcome is Outcome.RUNS])
    others = {
        "compute": itertools.cycle(texts("compute", lambda _, entry: entry["file"] != "local.compute")),
        "runconfig": itertools.cycle(texts("runconfig", lambda _, entry: entry["file"] != "local.runconfig")),
        "spark": itertools.cycle(texts("spark")),
        "amlignore": itertools.cycle(texts("amlignore")),
        "project": itertools.cycle(texts("project")),
    }
    for conda in texts("conda"):
        base, chosen = next(plain), {kind: next(names) for kind, names in others.items()}
        files = base.files | {
            "aml_config/conda_dependencies.yml": conda,
            "aml_config/spark_dependencies.yml": chosen["spark"],
            f"aml_config/{other_name(chosen['compute'], 'compute')}": chosen["compute"],
            f"aml_config/{other_name(chosen['runconfig'], 'runconfig')}": chosen["runconfig"],
            ".amlignore": chosen["amlignore"],
            ".azureml/project.json": chosen["project"],
        }
        yield dataclasses.replace(base, name=f"{base.name}+{conda[6:]}", files=files)


def other_name(text, kind):
    name = EXPECTATIONS[text]["file"]
    return f"named.{kind}" if name.startswith("*") else name


def without_local():
    """Folders that never had a local run configuration."""
    computes = texts("compute", lambda _, entry: entry["ok"] and entry["file"] == "docker.compute")
    runconfigs = texts("runconfig", lambda _, entry: entry["ok"] and entry["file"] == "docker.runconfig")
    for compute, runconfig in list(zip(computes, runconfigs))[:4]:
        yield Shape(f"docker only {runconfig[10:]}", Outcome.NO_LOCAL,
                    {"aml_config/docker.compute": compute, "aml_config/docker.runconfig": runconfig})


def all_shapes():
    return [Shape("nothing but the script", Outcome.RUNS)] + pairs() + list(furnished()) + list(without_local())


def make_folder(shape, corpus, folder):
    """Builds one project folder below a temporary place."""
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(SCRIPT)
    for inside, name in shape.files.items():
        kind, prefix = name.split("/")
        source = next((corpus / kind).glob(f"{prefix}.*"))
        (folder / inside).parent.mkdir(exist_ok=True)
        shutil.copyfile(source, folder / inside)
    return folder
