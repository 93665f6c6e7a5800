// SPDX-License-Identifier: Apache-2.0
// Curves of metrics as the daemon reduces them: real points, of each pixel the first, last, lowest and highest.
import { ApiError, ask } from '../api/client';
import type { CurveHead, Scalar } from '../api/types';

export type Axis = CurveHead['x'];
export interface Window {
  from: bigint;
  to: bigint;
}
export interface Curve {
  run: string;
  key: string;
  /** All points that the metric has. */
  count: number;
  /** Relative to `base` of the answer: steps may be beyond what a number can hold. */
  x: Float64Array;
  y: Float64Array;
  smooth: Float64Array | null;
  min: number | null;
  max: number | null;
  last: number | null;
  nonfinite: number;
}
export interface Curves {
  axis: Axis;
  base: bigint;
  from: bigint;
  to: bigint;
  curves: Curve[];
}
export interface Wanted {
  runs: string[];
  keys: string[];
  axis: Axis;
  window: Window | null;
  width: number;
  smooth: number;
}

const asNumber = (value: Scalar | null): number | null => (value === null ? null : typeof value === 'number' ? value : Number(value));
const safe = BigInt(Number.MAX_SAFE_INTEGER);
const size = (value: bigint) => (value < 0n ? -value : value);
/** Numbers as they are where all of them fit; else counted from the first. */
const baseOf = (from: bigint, to: bigint) => (size(from) > safe / 2n || size(to) > safe / 2n ? from : 0n);
const edge = (value: bigint) => (size(value) > safe ? String(value) : Number(value));

export function decoded(body: ArrayBuffer): Curves {
  const view = new DataView(body);
  if (body.byteLength < 16 || view.getUint32(0) !== 0x504e4b43 || view.getUint32(4, true) !== 1) throw new ApiError('damaged', 'The answer holds no curves', '', 200);
  const length = view.getUint32(8, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 16, length))) as CurveHead;
  const [from, to] = [BigInt(head.from), BigInt(head.to)];
  const base = baseOf(from, to);
  const curves = head.curves.map((curve) => {
    const start = 16 + length + curve.at;
    const steps = new BigInt64Array(body, start, curve.rows);
    const x = new Float64Array(curve.rows);
    for (let at = 0; at < curve.rows; at++) x[at] = Number((steps[at] ?? 0n) - base);
    const column = (place: number) => new Float64Array(body, start + place * 8 * curve.rows, curve.rows);
    return {
      run: curve.run, key: curve.key, count: curve.count, x, y: column(1), smooth: curve.columns.includes('smooth') ? column(2) : null,
      min: asNumber(curve.min), max: asNumber(curve.max), last: asNumber(curve.last), nonfinite: curve.nonfinite,
    };
  });
  return { axis: head.x, base, from, to, curves };
}

export async function fetchCurves(wanted: Wanted, signal: AbortSignal): Promise<Curves> {
  const answer = await ask('api/v1/curves', {
    signal,
    body: {
      runs: wanted.runs, keys: wanted.keys, x: wanted.axis, from: wanted.window ? edge(wanted.window.from) : null, to: wanted.window ? edge(wanted.window.to) : null,
      width: wanted.width, smooth: wanted.smooth,
    },
  });
  return decoded(await answer.arrayBuffer());
}
