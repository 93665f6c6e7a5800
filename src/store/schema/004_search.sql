-- SPDX-License-Identifier: Apache-2.0
-- For searches: the latest numbers of a key in their order, runs in the order in which their scripts
-- began, and whose they are, which only `details` knew.
-- `text` is NULL throughout and there so that the index alone answers.
CREATE INDEX metric_by_value ON metric(key, value, run, text) WHERE text IS NULL;
ALTER TABLE run ADD COLUMN user TEXT NOT NULL DEFAULT '';
UPDATE run SET user = coalesce(json_extract(details, '$.user'), '') WHERE json_valid(details);
CREATE INDEX run_by_started ON run(started DESC, id);
CREATE INDEX run_by_project_started ON run(project, started DESC, id);
