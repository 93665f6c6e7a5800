-- SPDX-License-Identifier: Apache-2.0
-- What happened inside of traces, and what people and judges think of it.
CREATE TABLE span (
    row INTEGER PRIMARY KEY,
    trace INTEGER NOT NULL REFERENCES trace(row) ON DELETE CASCADE,
    id TEXT NOT NULL,
    parent TEXT,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER,
    size INTEGER NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (trace, id)
) STRICT;
-- The sum of what a trace has.
CREATE INDEX span_by_size ON span(trace, size);

-- `value`, `error` and `metadata` are JSON; `run` is the one that made it, by its metadata.
CREATE TABLE assessment (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    trace INTEGER NOT NULL REFERENCES trace(row) ON DELETE CASCADE,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('feedback', 'expectation', 'issue')),
    value TEXT NOT NULL,
    error TEXT,
    source_type TEXT NOT NULL,
    source TEXT NOT NULL,
    span TEXT,
    run TEXT,
    rationale TEXT,
    metadata TEXT NOT NULL,
    overrides TEXT,
    valid INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    size INTEGER NOT NULL,
    UNIQUE (trace, id)
) STRICT;
CREATE INDEX assessment_by_run ON assessment(run) WHERE run IS NOT NULL;
