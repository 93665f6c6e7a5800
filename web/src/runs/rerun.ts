// SPDX-License-Identifier: Apache-2.0
import { send } from '../api/client';
import type { Run } from '../api/types';

/** Ids are made here, so that asking twice starts one run. */
export function newRunId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
export function rerun(run: Run): Promise<Run> {
  return send<Run>('POST', `api/v1/runs/${run.run_id}/rerun`, { run_id: newRunId() });
}
