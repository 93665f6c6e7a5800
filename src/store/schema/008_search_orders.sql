-- SPDX-License-Identifier: Apache-2.0
-- For searches: the runs of a user, and runs in the order in which they ended.
CREATE INDEX run_by_user ON run(user);
CREATE INDEX run_by_ended ON run(ended DESC, started DESC, id);
