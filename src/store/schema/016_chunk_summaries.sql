-- SPDX-License-Identifier: Apache-2.0
-- What pictures need of a chunk without its points. `steps` and `times` are bytes of
-- docs/design/chunk-summary.md: empty where the points themselves are to be read, NULL where nobody
-- has looked yet. The ranges are those of `chunk`, here in an index by themselves.
CREATE TABLE chunk_summary (
    chunk INTEGER PRIMARY KEY REFERENCES chunk(row) ON DELETE CASCADE,
    metric INTEGER NOT NULL,
    first INTEGER NOT NULL,
    least_step INTEGER NOT NULL,
    greatest_step INTEGER NOT NULL,
    least_time INTEGER NOT NULL,
    greatest_time INTEGER NOT NULL,
    steps BLOB,
    times BLOB
) STRICT;
CREATE UNIQUE INDEX chunk_summary_by_place ON chunk_summary(
    metric, first, least_step, greatest_step, least_time, greatest_time);
CREATE INDEX chunk_summary_missing ON chunk_summary(chunk) WHERE steps IS NULL;
INSERT INTO chunk_summary(
    chunk, metric, first, least_step, greatest_step, least_time, greatest_time)
SELECT row, metric, first, least_step, greatest_step, least_time, greatest_time FROM chunk;
