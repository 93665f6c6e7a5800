-- SPDX-License-Identifier: Apache-2.0
-- Points of a key in compressed pieces, and points of requests that are not in pieces yet. Rows of
-- `point` become chunks when the history is opened; nothing is added to it any more.
-- `first` and the ranges stand before `data`, so that they are read without it.
CREATE TABLE chunk (
    row INTEGER PRIMARY KEY,
    metric INTEGER NOT NULL REFERENCES metric(row) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    least_step INTEGER NOT NULL,
    greatest_step INTEGER NOT NULL,
    least_time INTEGER NOT NULL,
    greatest_time INTEGER NOT NULL,
    ordered INTEGER NOT NULL,
    texts INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunk_by_place ON chunk(metric, first);

CREATE TABLE tail (
    run INTEGER NOT NULL REFERENCES run(row) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
