// SPDX-License-Identifier: Apache-2.0
import { t, type Key } from '../i18n/i18n.svelte';
import { bytes, figure } from '../parts/numbers';

/** A file's name from a metric's: letters and digits of any language. */
export const download = (metric: string, ending: string) => `${metric.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 80) || 'metric'}.${ending}`;

const gpu = /^system\/gpu\.(\d+)\.(utilisation|sm_activity|memory_used|power|energy|temperature)$/;

const ofRun: Record<string, Key> = { 'system/run.cpu_utilization_percentage': 'charts.run.cpu', 'system/run.memory_usage_megabytes': 'charts.run.memory' };

/** ponk's own metrics have names for people. */
export function titleOf(key: string): string {
  const own = ofRun[key];
  if (own) return t(own);
  const found = gpu.exec(key);
  return found ? t(`charts.gpu.${found[2]}` as Key, { gpu: found[1] ?? '' }) : key;
}
/** Bytes of one of its units; null: it is no memory. */
const unitOf = (key: string) => (gpu.exec(key)?.[2] === 'memory_used' ? 1 : key === 'system/run.memory_usage_megabytes' ? 1e6 : null);
/** A value of that metric; bytes are said as bytes. */
export function valueText(key: string, value: unknown): string {
  const unit = unitOf(key);
  return typeof value === 'number' && unit !== null ? bytes(value * unit) : figure(value);
}
export const isMemory = (key: string) => unitOf(key) !== null;

export interface Group {
  name: string;
  metrics: { key: string; title: string }[];
}

/** Metrics by what is before the last `/`; those without one first, ponk's own at the end. */
export function groupsOf(names: string[]): Group[] {
  const groups = new Map<string, Group>();
  for (const key of names) {
    const cut = key.lastIndexOf('/');
    const name = cut > 0 && cut < key.length - 1 ? key.slice(0, cut) : '';
    const group = groups.get(name) ?? { name, metrics: [] };
    group.metrics.push({ key, title: name === 'system' ? titleOf(key) : name ? key.slice(cut + 1) : key });
    groups.set(name, group);
  }
  const place = (group: Group) => (group.name === '' ? 0 : group.name === 'system' ? 2 : 1);
  return [...groups.values()].sort((a, b) => place(a) - place(b) || a.name.localeCompare(b.name, 'en', { numeric: true }));
}
