# SPDX-License-Identifier: Apache-2.0
"""Packages that tests make themselves, so that nothing has to be fetched."""
import os
import zipfile


def write_wheel(folder, name, version, code=""):
    """A wheel of one module."""
    path = os.path.join(folder, "%s-%s-py3-none-any.whl" % (name, version))
    info = "%s-%s.dist-info" % (name, version)
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(name + ".py", code or "__version__ = %r\n" % version)
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "/RECORD", "%s.py,,\n%s/METADATA,,\n%s/WHEEL,,\n%s/RECORD,,\n" % (name, info, info, info))
    return path
