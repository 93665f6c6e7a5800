// SPDX-License-Identifier: Apache-2.0
// More of a run than lists need; docs/design/api.md has all of it.
import type { GpuEvidence, Run, State } from '../api/types';

export interface Device {
  uuid: string;
  index?: number;
  name: string;
  memory_total?: number;
}
export interface DeviceEvidence {
  uuid: string;
  name: string;
  memory_peak?: number;
  held_seconds?: number;
  worked_seconds?: number;
  measured_seconds?: number;
  activity_mean?: number;
  utilisation_peak?: number;
  sm_activity_mean?: number;
  energy_joules?: number;
  shared?: boolean;
}
export interface FullEvidence extends GpuEvidence {
  required?: boolean;
  driver_version?: string;
  cuda_version?: string;
  enforced?: string;
  evidence?: { samples: number; failures: number; seconds: number; devices: DeviceEvidence[]; findings?: string[] };
}
export interface Environment {
  id: string;
  choice: string;
  builder: string;
  reason: string;
  built: boolean;
  interpreter: string;
  version: string;
  packages: number;
  image: string;
  base_image: string;
  memory_limit: number;
}
export interface FullRun extends Omit<Run, 'gpu_evidence'> {
  gpu_evidence: FullEvidence | null;
  framework: string;
  snapshot: string | null;
  rerun_of: string | null;
  parent: string | null;
  git: { commit: string; branch: string; dirty: boolean } | null;
  timings: Partial<Record<'snapshot' | 'materialise' | 'prepare' | 'queue' | 'start' | 'run' | 'collect', number>>;
  environment: Environment | null;
  evidence: { cause?: string; signal?: number; max_rss_kib?: number; user_ms?: number; system_ms?: number; oom_kills?: number } | null;
  child_runs?: { run_id: string; name: string; status: State }[];
  deleted_utc?: string;
  imported_utc?: string;
  metrics_left_out?: number;
}
export interface Artifact {
  path: string;
  size: number;
  digest: string | null;
  link: string | null;
}
export interface Artifacts {
  artifacts: Artifact[];
  left_out: { path: string; link: string }[];
  problems: { message: string; hint: string }[];
}
export interface Snapshot {
  id: string;
  files: { path: string; size: number; mode: string; digest: string }[];
}
export interface Package {
  manager: string;
  name: string;
  version: string;
  source: string;
}
export interface RunEvent {
  seq: number;
  time: string;
  kind: 'state' | 'progress' | 'notice' | 'metric';
  text: string;
}
/** The note is a tag; clients of MLflow show it, too. */
export const note_tag = 'mlflow.note.content';
