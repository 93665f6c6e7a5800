-- SPDX-License-Identifier: Apache-2.0
-- Traces that belong to runs besides the one that wrote them.
CREATE TABLE trace_link (
    trace INTEGER NOT NULL REFERENCES trace(row) ON DELETE CASCADE,
    run TEXT NOT NULL,
    PRIMARY KEY (run, trace)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_link_by_trace ON trace_link(trace);
