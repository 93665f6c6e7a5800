# SPDX-License-Identifier: Apache-2.0
"""The documents: a package has activities (dataflows), an activity has blocks in order."""
import json
import os

from ponk.dataprep import places
from ponk.dataprep.errors import PackageError, need_pandas


class Package(object):
    def __init__(self, path):
        self.path = places.existing_package(str(path))
        self.name = os.path.basename(self.path)
        self.folder = os.path.dirname(os.path.abspath(self.path))
        document = _document(self.path)
        activities = document.get("activities") if isinstance(document, dict) else None
        if not isinstance(activities, list):
            raise PackageError("'%s' is not a data preparation package: it has no list 'activities'"
                               % self.path)
        self.dataflows = [Activity(self, activity) for activity in activities]

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False

    def dataflow(self, position):
        if not isinstance(position, int) or not 0 <= position < len(self.dataflows):
            known = ", ".join("%d '%s'" % (number, activity.name)
                              for number, activity in enumerate(self.dataflows))
            raise PackageError("'%s' has no dataflow %r; it has: %s"
                               % (self.path, position, known or "none"))
        return self.dataflows[position]

    def find(self, identifier):
        """The activity with that id. A source that was exchanged has another id, but only one
        activity."""
        for activity in self.dataflows:
            if activity.id == identifier:
                return activity
        return self.dataflows[0] if len(self.dataflows) == 1 else None


class Activity(object):
    """One dataflow: a row of blocks, of which the first names the data."""

    def __init__(self, package, description):
        if not isinstance(description, dict) or not isinstance(description.get("blocks"), list):
            raise PackageError("'%s' has an activity without a list 'blocks'" % package.path)
        self.package = package
        self.id = description.get("id")
        self.name = description.get("name") or ""
        self.steps = [Step(self, number, block)
                      for number, block in enumerate(description["blocks"], 1)]

    def get_dataframe(self, spark=None):
        need_pandas(self.package.path)
        from ponk.dataprep import result
        return result.deliver(self.flow(), spark)

    def flow(self, until=None, active=()):
        """The result of all blocks, or of those up to the one with the id `until`."""
        from ponk.dataprep import blocks
        steps = self.steps
        if until is not None:
            ids = [step.id for step in steps]
            if until not in ids:
                raise PackageError("'%s', activity '%s' has no block with the id '%s'"
                                   % (self.package.path, self.name, until))
            steps = steps[:ids.index(until) + 1]
        if not steps:
            raise PackageError("'%s', activity '%s' has no blocks" % (self.package.path, self.name))
        me = (os.path.realpath(self.package.path), self.id, self.name)
        if me in active:
            raise PackageError("'%s', activity '%s' refers to itself"
                               % (self.package.path, self.name))
        functions = [blocks.function_of(step) for step in steps]
        flow = None
        for step, function in zip(steps, functions):
            step.active = active + (me,)
            try:
                flow = function(step, flow)
            except (PackageError, ImportError, MemoryError):
                raise
            except Exception as problem:
                raise step.error("%s: %s" % (type(problem).__name__, problem)) from problem
        return flow


class Step(object):
    """A block with its place in the package."""

    def __init__(self, activity, number, block):
        self.activity = activity
        self.number = number
        block = block if isinstance(block, dict) else {}
        self.id = block.get("id")
        self.type = str(block.get("type"))
        arguments = block.get("arguments")
        self.arguments = arguments if isinstance(arguments, dict) else {}
        self.active = ()

    @property
    def short_type(self):
        prefix = "Microsoft.DPrep."
        return self.type[len(prefix):] if self.type.startswith(prefix) else self.type

    def place(self):
        return "'%s', activity '%s', block %d (%s)" % (
            self.activity.package.path, self.activity.name, self.number, self.short_type)

    def error(self, message, column=None):
        place = self.place()
        if column is not None:
            place += ", column '%s'" % column
        return PackageError("%s: %s" % (place, message))

    def need(self, name, kind=object):
        value = self.arguments.get(name)
        if value is None or not isinstance(value, kind):
            raise self.error("the argument '%s' is missing or has another form" % name)
        return value

    def choice(self, name, choices, default=None):
        value = self.arguments.get(name, default)
        if value not in choices:
            raise self.error("'%s' is %r, which is not known; known: %s"
                             % (name, value, ", ".join(map(str, sorted(choices)))))
        return choices[value]

    def column(self, flow, name):
        if flow is None:
            raise self.error("no block before it reads data")
        if name not in flow.frame.columns:
            raise self.error("the data has no such column; it has: %s"
                             % ", ".join("'%s'" % c for c in flow.frame.columns), name)
        return name

    def columns(self, flow, argument="columnIds"):
        return [self.column(flow, name) for name in self.need(argument, list)]

    def referenced(self, reference):
        """The flow of another activity, of this package or of another file."""
        if not isinstance(reference, dict):
            raise self.error("the reference to other data is missing")
        for part in ("referencedBranchId", "anonymousSteps"):
            if reference.get(part):
                raise self.error("references with '%s' are not supported" % part)
        package = self.activity.package
        where = reference.get("referenceContainerPath")
        if where:
            package = Package(places.referenced_package(self, str(where)))
        activity = package.find(reference.get("referencedActivityId"))
        if activity is None:
            raise self.error("'%s' has no activity '%s'"
                             % (package.path, reference.get("referencedActivityId")))
        until = reference.get("referencedStep") or {}
        # Type 0 names a block, type 1 means the last one.
        last = until.get("referencedStepId") if until.get("stepReferenceType") == 0 else None
        return activity.flow(last, self.active)


def _document(path):
    try:
        with open(path, encoding="utf-8-sig") as text:
            return json.load(text)
    except ValueError as problem:
        raise PackageError("'%s' is not a data preparation package: %s" % (path, problem))
    except OSError as problem:
        raise PackageError("'%s' cannot be read: %s" % (path, problem.strerror))
