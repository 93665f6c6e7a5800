-- SPDX-License-Identifier: Apache-2.0
-- The least and the greatest of a key's finite numbers, to order runs by; of none, infinity and
-- minus infinity. NULL: nobody has looked yet, the daemon's work in the background does.
ALTER TABLE metric ADD COLUMN low REAL;
ALTER TABLE metric ADD COLUMN high REAL;
CREATE INDEX metric_without_range ON metric(run) WHERE low IS NULL;
