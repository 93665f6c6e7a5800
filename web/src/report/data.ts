// SPDX-License-Identifier: Apache-2.0
// What the report is about: the blocks of data in its own file, docs/design/report.md.
import { decoded, type Curves, type Wanted } from '../charts/curves';
import type { Package, Run, Snapshot } from '../api/types';

export interface ReportRun {
  run: Run;
  packages: Package[] | null;
  snapshot?: Snapshot;
}
export interface About {
  made: string;
  version: string;
  /** Columns of pixels that each curve was reduced to. */
  width: number;
  left_out: { runs: number; metrics: number; values: number };
}

function blocks<T>(name: string): T[] {
  return [...document.querySelectorAll(`script[data-ponk="${name}"]`)].map((block) => JSON.parse(block.textContent ?? 'null') as T);
}

export const about = blocks<About>('about')[0] ?? { made: '', version: '', width: 0, left_out: { runs: 0, metrics: 0, values: 0 } };
export const runs = blocks<ReportRun>('run');

function bytesOf(text: string): ArrayBuffer {
  const signs = atob(text);
  const body = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at++) body[at] = signs.charCodeAt(at);
  return body.buffer;
}
export const curves = new Map(blocks<{ metric: string; body: string }>('curves').map(({ metric, body }) => [metric, decoded(bytesOf(body))]));

/** As the daemon would answer, of what is in the file. */
export function fetchKept({ runs: wanted, keys, window }: Wanted): Promise<Curves> {
  const kept = curves.get(keys[0] ?? '');
  if (!kept) return Promise.reject(new Error(`no curves of ${keys.join()}`));
  return Promise.resolve({ ...kept, ...(window ?? {}), curves: kept.curves.filter((curve) => wanted.includes(curve.run)) });
}
