# SPDX-License-Identifier: Apache-2.0
"""Decisions made by reading the texts. docs/corpus.md gives the reasons in words.

Errors are written by hand from the text; the builder then asserts that the independent reader refuses the same texts.
"""

# (line, column, class, word the message or hint must hold). Further errors that one text repeats are in ALSO.
ERRORS = {
    "compute/002cb8c28029": [(5, 11, "wrong-type", "password")],
    "compute/6cdaf90b4aad": [(2, 1, "tab-indentation", "tab")],
    "compute/8350bcca2483": [(5, 11, "wrong-type", "password"), (8, 11, "wrong-type", "username")],
    "conda/7a405aedfa5d": [(21, 1, "yaml-syntax", None)],
    "runconfig/4c855c2bb836": [(10, 3, "json-syntax", ",")],
    "runconfig/83f6b24eb056": [(11, 3, "json-syntax", ",")],
    "runconfig/84e6405f7a24": [(10, 28, "json-syntax", "true.")],
    "spark/01eecdb0c9bf": [(16, 24, "yaml-syntax", None)],
    "spark/573c2a2210b1": [(25, 1, "conflict-marker", "<<<<<<<")],
    "spark/7574c7323e0f": [(16, 24, "yaml-syntax", None)],
}

# Places where the same text may be refused again: the other marks of a conflict, the other colons without a blank.
ALSO = {
    "spark/01eecdb0c9bf": [(17, None), (18, None), (19, None), (20, None)],
    "spark/573c2a2210b1": [(29, 1), (30, None), (33, 1)],
    "spark/7574c7323e0f": [(17, None), (18, None), (19, None), (20, None)],
}

# Where ruamel's own mark is not the place a person would point at: it reports the end of what it had swallowed.
READER_POINTS_ELSEWHERE = {"spark/573c2a2210b1", "spark/01eecdb0c9bf", "spark/7574c7323e0f"}

# Values that only a person recognises as left to be filled in. (class, line, column, must, word)
BY_EYE = {
    "compute/0177038390d5": [("placeholder", 1, 10, False, None), ("placeholder", 3, 11, False, None)],
    "compute/181a8469b8c8": [("placeholder", 1, 10, False, None)],
    "compute/1f9bb4c741a6": [("placeholder", 1, 10, True, "address"), ("placeholder", 2, 11, False, None),
                             ("placeholder", 3, 11, False, None)],
    "compute/432dc2afe026": [("placeholder", 1, 10, True, "address"), ("placeholder", 2, 11, False, None),
                             ("placeholder", 3, 11, False, None)],
    "compute/470b1da80940": [("placeholder", 1, 10, True, "address"), ("placeholder", 4, 11, False, None)],
    "compute/8766d3827b2a": [("placeholder", 1, 10, True, "address"), ("placeholder", 7, 11, True, "username"),
                             ("placeholder", 8, 11, True, "password")],
    "runconfig/394495e4af3b": [("placeholder", 5, 19, False, None), ("placeholder", 6, 18, False, None)],
    "runconfig/4da797a381b9": [("placeholder", 5, 27, False, None), ("placeholder", 6, 26, False, None)],
    "runconfig/649c5e15e108": [("placeholder", 5, 19, False, None), ("placeholder", 6, 18, False, None)],
    # `cpucluster:` stands where the schema has `amlcompute:`.
    "runconfig/4581acb193c5": [("unknown-key", 105, 1, True, "cpucluster")],
    # A conda file outside the project (`../`).
    "runconfig/46c2c6216308": [("path-outside-project", 31, 28, False, None)],
    # Not Spark properties: `maximizeResourceAllocation` belongs to another product, `extraJavaOption` lacks its s.
    "spark/1a611ab37615": [("unknown-key", 14, 3, False, None), ("unknown-key", 16, 3, False, None)],
}
