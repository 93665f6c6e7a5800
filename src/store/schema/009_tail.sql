-- SPDX-License-Identifier: Apache-2.0
-- Points of requests in the order of arrival, whosever run they belong to: those of many runs that
-- come together are one page. A row may outlive its run until the next settling, which drops it.
CREATE TABLE tail_by_arrival (
    row INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;
INSERT INTO tail_by_arrival(run, data) SELECT run, data FROM tail ORDER BY run, number;
DROP TABLE tail;
ALTER TABLE tail_by_arrival RENAME TO tail;
