-- SPDX-License-Identifier: Apache-2.0
-- The run whose script made a run by MLflow's API, by its id; '' for all others. It was a tag, which
-- is shown as before and no longer stored.
ALTER TABLE run ADD COLUMN parent TEXT NOT NULL DEFAULT '';
UPDATE run SET parent = (SELECT value FROM tag WHERE tag.run = run.row AND key = 'ponk.made_by')
    WHERE row IN (SELECT run FROM tag WHERE key = 'ponk.made_by'
                  AND length(value) = 32 AND value NOT GLOB '*[^0-9a-f]*');
DELETE FROM tag WHERE key = 'ponk.made_by' AND run IN (SELECT row FROM run WHERE parent <> '');
CREATE INDEX run_by_parent ON run(parent) WHERE parent <> '';
