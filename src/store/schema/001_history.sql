-- SPDX-License-Identifier: Apache-2.0
-- Version 1. docs/design/database.md says what each column means. A released text never changes.

CREATE TABLE project (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    last_number INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX project_by_path ON project(path);

CREATE TABLE run (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    reversed_id TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES project(row) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    exit_code INTEGER,
    script_name TEXT NOT NULL,
    target TEXT NOT NULL,
    created INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    snapshot TEXT NOT NULL,
    outputs TEXT NOT NULL,
    job TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    details TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_reversed_id ON run(reversed_id);
CREATE UNIQUE INDEX run_by_number ON run(project, number);
CREATE INDEX run_by_project ON run(project);
CREATE INDEX run_by_project_state ON run(project, state);
CREATE INDEX run_by_project_script ON run(project, script_name);
CREATE INDEX run_by_project_target ON run(project, target);
CREATE INDEX run_by_state ON run(state);
CREATE INDEX run_by_script ON run(script_name);
CREATE INDEX run_by_target ON run(target);
CREATE INDEX run_by_snapshot ON run(snapshot);

CREATE TABLE tag (
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_by_value ON tag(key, value, run);

CREATE TABLE metric (
    row INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    count INTEGER NOT NULL,
    value REAL,
    text TEXT,
    step INTEGER NOT NULL,
    time INTEGER NOT NULL,
    UNIQUE (run, key)
) STRICT;

CREATE TABLE point (
    metric INTEGER NOT NULL REFERENCES metric(row) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    step INTEGER NOT NULL,
    time INTEGER NOT NULL,
    value REAL,
    text TEXT,
    PRIMARY KEY (metric, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    name TEXT NOT NULL,
    stored INTEGER NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE asset (
    project INTEGER NOT NULL REFERENCES project(row) ON DELETE CASCADE,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    run TEXT NOT NULL,
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (project, name, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
