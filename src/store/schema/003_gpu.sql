-- SPDX-License-Identifier: Apache-2.0
-- The verdict on the use of GPUs, for filters; `details` has what was asked for and seen. Most runs ask
-- for none and have no place in the indexes.
ALTER TABLE run ADD COLUMN gpu_verdict TEXT NOT NULL DEFAULT 'not-requested';
CREATE INDEX run_by_gpu ON run(gpu_verdict) WHERE gpu_verdict <> 'not-requested';
CREATE INDEX run_by_project_gpu ON run(project, gpu_verdict) WHERE gpu_verdict <> 'not-requested';
