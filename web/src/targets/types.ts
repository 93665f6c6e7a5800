// SPDX-License-Identifier: Apache-2.0
export interface GpuProcess { pid: number; memory: number | null; user: string | null; program: string | null; run: string | null }
export interface Device {
  uuid: string; index: number; name: string; memory?: number | null; memory_total?: number | null;
  sample?: { utilisation?: number | null; memory_used?: number | null; memory?: number | null; power?: number | null; temperature?: number | null };
  processes?: GpuProcess[];
  lease?: { user: string; run: string; since: number; present: boolean } | null;
}
export interface Inventory { target: string; type: string; address?: string; reachable: boolean; driver_version?: string; devices: Device[]; problem?: { message?: string; hint?: string } | string | null }
export interface Check {
  target: string; type: string; address: string; reachable: boolean;
  facts: {
    system: string; architecture: string; free_disk: number | null; python: string | null; engine: { name: string; version: string } | null;
    gpus: { name: string; memory: string }[];
  } | null;
  problems: { severity: 'error' | 'warning'; what: string; hint: string }[];
}
