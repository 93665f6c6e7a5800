// SPDX-License-Identifier: Apache-2.0
// What the daemon answers, as docs/design/api.md has it; only fields that the page reads.

export type State = 'NotStarted' | 'Preparing' | 'Queued' | 'Starting' | 'Running' | 'Finalizing' | 'Completed' | 'Failed' | 'Canceled' | 'Lost';
export type Verdict = 'confirmed' | 'idle' | 'cpu-fallback' | 'lost' | 'unknown' | 'not-requested';
export type Value = number | string | null;

export interface GpuEvidence {
  phase?: string;
  position?: number;
  waiting?: string[];
  requested?: string;
  reason?: string;
  devices?: { uuid: string; name: string; index?: number }[];
}

export interface Run {
  run_id: string;
  run_number: number;
  name: string;
  status: State;
  exit_code: number | null;
  error: { kind: string; message: string; hint: string } | string | null;
  project: string;
  project_path: string;
  experiment: string;
  experiment_id: string;
  script_name: string;
  arguments: string[];
  target: string;
  target_type: string;
  run_configuration: string;
  user: string;
  host: string;
  created_utc: string;
  start_time_utc: string | null;
  end_time_utc: string | null;
  duration_ms: number | null;
  hidden: boolean;
  cancel_requested: boolean;
  params: Record<string, string>;
  tags: Record<string, string>;
  metrics: Record<string, unknown>;
  gpu_verdict: Verdict | null;
  gpu_evidence: GpuEvidence | null;
  unreachable?: { since: string; reason: string };
  warnings: string[];
  /** Data that does not travel: its place in the copy, and where it is. */
  inputs?: { path: string; source: string; digest?: string; files?: number; bytes?: number }[] | null;
}

export interface RunPage {
  runs: Run[];
  next: string | null;
  total?: number;
}

export interface Project {
  id: string;
  name: string;
  path: string;
  runs: number;
  last_run: string | null;
}

export interface Session {
  id: string;
  role: 'read' | 'write' | 'promote' | 'administer';
  owner: boolean;
  token: string | null;
  created: string;
  expires: string;
  version?: string;
}

export const active: readonly State[] = ['NotStarted', 'Preparing', 'Queued', 'Starting', 'Running', 'Finalizing'];
export const isActive = (run: Run) => active.includes(run.status);
