-- SPDX-License-Identifier: Apache-2.0
-- By what a folder is known again when it has moved: its own place on the file system, and its
-- repository. Both are opaque texts; empty: not known.
ALTER TABLE project ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE project ADD COLUMN repository TEXT NOT NULL DEFAULT '';
