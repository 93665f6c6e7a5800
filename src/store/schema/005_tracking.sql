-- SPDX-License-Identifier: Apache-2.0
-- What MLflow's clients know: a project is an experiment, and runs may be a client's own.
ALTER TABLE project ADD COLUMN origin TEXT NOT NULL DEFAULT 'folder';
ALTER TABLE project ADD COLUMN experiment TEXT NOT NULL DEFAULT '';
ALTER TABLE project ADD COLUMN location TEXT NOT NULL DEFAULT '';
ALTER TABLE project ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN updated INTEGER NOT NULL DEFAULT 0;
UPDATE project SET experiment = name,
    created = coalesce((SELECT min(run.created) FROM run WHERE run.project = project.row), 0);
UPDATE project SET updated = created;
-- Folders may have equal names, experiments may not.
UPDATE project SET experiment = name || ' (' || row || ')' WHERE name IN ('', 'Default')
    OR EXISTS (SELECT 1 FROM project AS other WHERE other.name = project.name AND other.row < project.row);
INSERT INTO project(row, id, name, path, origin, experiment, created, updated)
    VALUES(0, 'experiment:default', 'Default', '', 'client', 'Default',
           CAST(strftime('%s', 'now') AS INTEGER) * 1000, CAST(strftime('%s', 'now') AS INTEGER) * 1000);
CREATE INDEX project_by_experiment ON project(experiment);

CREATE TABLE experiment_tag (
    project INTEGER NOT NULL REFERENCES project(row) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;

ALTER TABLE run ADD COLUMN origin TEXT NOT NULL DEFAULT 'engine';
ALTER TABLE run ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
