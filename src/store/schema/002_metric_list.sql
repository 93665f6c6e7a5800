-- SPDX-License-Identifier: Apache-2.0
-- Whether the latest value of the key was logged as one of a list.
ALTER TABLE metric ADD COLUMN list INTEGER NOT NULL DEFAULT 0;
