-- SPDX-License-Identifier: Apache-2.0
-- Values of a model are a set, as those of a run are: measured on another dataset at the same step
-- and time is another one.
CREATE TABLE model_metric_of_dataset (
    row INTEGER PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES logged_model(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    time INTEGER NOT NULL,
    step INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    value REAL,
    dataset_name TEXT,
    dataset_digest TEXT
) STRICT;
INSERT INTO model_metric_of_dataset SELECT * FROM logged_model_metric;
DROP TABLE logged_model_metric;
ALTER TABLE model_metric_of_dataset RENAME TO logged_model_metric;
CREATE UNIQUE INDEX logged_model_metric_once ON logged_model_metric(
    model, key, time, step, run, ifnull(dataset_name, ''), ifnull(dataset_digest, ''), ifnull(value, 'NaN'));
CREATE INDEX logged_model_metric_by_run ON logged_model_metric(run);
