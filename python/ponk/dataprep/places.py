# SPDX-License-Identifier: Apache-2.0
"""Where the files are that packages name, often by paths of another machine."""
import glob
import json
import ntpath
import os
import re

from ponk.dataprep.errors import PackageError, notice

_ELSEWHERE = re.compile(r"^([A-Za-z]:[\\/]|\\\\|/|~|[A-Za-z][A-Za-z0-9+.-]+:)")


def is_cloud(path):
    return re.match(r"^[A-Za-z][A-Za-z0-9+.-]+:", path) is not None


def base_name(path):
    """The last part of a path of any system, or of an address without its query."""
    return ntpath.basename((path.split("?")[0] if is_cloud(path) else path).rstrip("\\/"))


def _near(path, folder):
    """Where a path may be meant: beside the package, or from the project's folder. Packages
    written on Windows have backslashes."""
    for spelling in (path, path.replace("\\", "/")):
        for start in (folder, os.getcwd()):
            yield os.path.normpath(os.path.join(start, spelling))


def existing_package(path):
    for candidate in [path] + list(_near(path, os.getcwd())):
        if os.path.isfile(candidate):
            return candidate
    raise PackageError("there is no data preparation package '%s' (looked from '%s'); if it is in "
                       "the project, .amlignore may leave it out of runs" % (path, os.getcwd()))


def substitute(path):
    """DataSourceSubstitutions of the run configuration: another source in place of the named."""
    try:
        pairs = json.loads(os.environ.get("PONK_DATA_SOURCES") or "{}")
    except ValueError:
        return path
    for name, other in pairs.items():
        if base_name(str(name)).lower() == base_name(path).lower():
            notice("'%s' is read in place of '%s' (DataSourceSubstitutions)" % (other, path))
            return str(other)
    return path


def referenced_package(step, path):
    path = substitute(path)
    folder = step.activity.package.folder
    for candidate in _near(path, folder):
        if os.path.isfile(candidate):
            return candidate
    beside = os.path.join(folder, base_name(path))
    if _ELSEWHERE.match(path) and os.path.isfile(beside):
        return beside
    raise step.error("it refers to '%s', which is not there; put that file into the project, beside '%s'"
                     % (path, step.activity.package.name))


def data_files(step, path):
    """The files that a source names: a file, a folder, or a pattern."""
    folder = step.activity.package.folder
    candidates = [] if is_cloud(path) and not re.match(r"^[A-Za-z]:", path) \
        else list(_near(path, folder))
    beside = os.path.join(folder, base_name(path))
    elsewhere = _ELSEWHERE.match(path) is not None
    if elsewhere:
        candidates.append(beside)
    for candidate in candidates:
        found = _expand(candidate)
        if found:
            if candidate == beside and elsewhere and not os.path.exists(path):
                notice("'%s' is read in place of '%s'" % (beside, path))
            return found
    kind = ""
    if is_cloud(path) and not re.match(r"^[A-Za-z]:", path):
        kind = " (an address that runs do not fetch)"
    elif elsewhere:
        kind = " (a path of the machine on which the package was made)"
    if elsewhere:
        advice = "put the file as '%s' beside '%s'" % (base_name(path), step.activity.package.name)
    else:
        advice = ("put it into the project; if an ignore file leaves it out, submit with '--input %s'" % path)
    if any(os.path.isdir(candidate) for candidate in candidates):
        raise step.error("the folder '%s' has no files; put the data there" % path)
    raise step.error("the data file '%s'%s is not there; %s" % (path, kind, advice))


def _expand(path):
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        return sorted(entry for entry in glob.glob(os.path.join(glob.escape(path), "*"))
                      if os.path.isfile(entry))
    if any(mark in path for mark in "*?"):
        return sorted(entry for entry in glob.glob(path) if os.path.isfile(entry))
    return []


def output_file(step, path):
    """Where a block writes: relative paths beside the package; what belongs to another machine
    goes into the run's outputs."""
    if not _ELSEWHERE.match(path):
        target = os.path.join(step.activity.package.folder, path.replace("\\", "/"))
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            os.makedirs(folder)
        return target
    if path.startswith("/") and os.path.isdir(os.path.dirname(path)):
        return path
    outputs = os.environ.get("PONK_OUTPUTS_DIRECTORY") or os.path.join(os.getcwd(), "outputs")
    if not os.path.isdir(outputs):
        os.makedirs(outputs)
    target = os.path.join(outputs, base_name(path))
    notice("'%s' is written in place of '%s'" % (target, path))
    return target
