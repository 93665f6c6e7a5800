# SPDX-License-Identifier: Apache-2.0
"""azureml.assets as of 2017. A link file stood for a large file that the service kept."""
import os

__all__ = ["get_local_path"]


def get_local_path(path):
    """The file or folder that a link file stands for: the one of the same name without '.link'."""
    text = str(path).replace("\\", "/")
    meant = text[:-len(".link")] if text.endswith(".link") else text
    if os.path.exists(meant):
        return os.path.abspath(meant)
    raise OSError("get_local_path('%s'): there is no '%s'; the service that kept linked files no "
                  "longer exists, so put the file itself there" % (path, os.path.abspath(meant)))
