-- SPDX-License-Identifier: Apache-2.0
-- What MLflow's clients keep beside runs: datasets, logged models, the registry of models, traces.
CREATE TABLE dataset (
    row INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(row) ON DELETE CASCADE,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    source_type TEXT NOT NULL,
    source TEXT NOT NULL,
    schema TEXT,
    profile TEXT,
    UNIQUE (project, name, digest)
) STRICT;
CREATE INDEX dataset_by_name ON dataset(name);
CREATE INDEX dataset_by_digest ON dataset(digest);

-- `context` is the tag mlflow.data.context, for searches; `tags` has all of them.
CREATE TABLE run_dataset (
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    dataset INTEGER NOT NULL REFERENCES dataset(row) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    context TEXT,
    tags TEXT NOT NULL,
    PRIMARY KEY (run, dataset)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_dataset_by_dataset ON run_dataset(dataset, run, context);
CREATE INDEX run_dataset_by_context ON run_dataset(context, run) WHERE context IS NOT NULL;

CREATE TABLE run_model (
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    direction TEXT NOT NULL CHECK (direction IN ('input', 'output')),
    model TEXT NOT NULL,
    step INTEGER NOT NULL,
    PRIMARY KEY (run, direction, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE logged_model (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(row) ON DELETE CASCADE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    source_run TEXT NOT NULL,
    location TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX logged_model_by_created ON logged_model(project, created DESC, id);
CREATE INDEX logged_model_by_name ON logged_model(project, name, created DESC, id);
CREATE INDEX logged_model_by_run ON logged_model(source_run);

CREATE TABLE logged_model_param (
    model INTEGER NOT NULL REFERENCES logged_model(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE logged_model_tag (
    model INTEGER NOT NULL REFERENCES logged_model(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;

-- `value` is NULL for NaN.
CREATE TABLE logged_model_metric (
    row INTEGER PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES logged_model(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    time INTEGER NOT NULL,
    step INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    value REAL,
    dataset_name TEXT,
    dataset_digest TEXT,
    UNIQUE (model, key, time, step, run)
) STRICT;
CREATE INDEX logged_model_metric_by_run ON logged_model_metric(run);

-- `last_version`: given last, never given again.
CREATE TABLE registered_model (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    last_version INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX registered_model_by_updated ON registered_model(updated, name);

CREATE TABLE registered_model_tag (
    model INTEGER NOT NULL REFERENCES registered_model(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX registered_model_tag_by_value ON registered_model_tag(key, value, model);

-- `source` is what the client said, `location` where the files are: neither is ever opened as a path.
CREATE TABLE model_version (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER NOT NULL REFERENCES registered_model(row) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    description TEXT,
    stage TEXT NOT NULL,
    source TEXT NOT NULL,
    location TEXT NOT NULL,
    run TEXT NOT NULL,
    run_link TEXT NOT NULL,
    logged_model TEXT NOT NULL,
    UNIQUE (model, version)
) STRICT;
CREATE INDEX model_version_by_updated ON model_version(updated DESC);
CREATE INDEX model_version_by_stage ON model_version(model, stage, version);
CREATE INDEX model_version_by_run ON model_version(run);
CREATE INDEX model_version_by_source ON model_version(source);

CREATE TABLE registered_model_alias (
    model INTEGER NOT NULL REFERENCES registered_model(row) ON DELETE CASCADE,
    alias TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES model_version(row) ON DELETE CASCADE,
    PRIMARY KEY (model, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX registered_model_alias_by_version ON registered_model_alias(version);

CREATE TABLE model_version_tag (
    version INTEGER NOT NULL REFERENCES model_version(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (version, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX model_version_tag_by_value ON model_version_tag(key, value, version);

CREATE TABLE trace (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES project(row) ON DELETE CASCADE,
    time INTEGER NOT NULL,
    duration INTEGER,
    state TEXT NOT NULL,
    client_id TEXT,
    request TEXT,
    response TEXT
) STRICT;
CREATE INDEX trace_by_time ON trace(project, time DESC, id);

CREATE TABLE trace_tag (
    trace INTEGER NOT NULL REFERENCES trace(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (trace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE trace_metadata (
    trace INTEGER NOT NULL REFERENCES trace(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (trace, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_metadata_by_value ON trace_metadata(key, value, trace);
