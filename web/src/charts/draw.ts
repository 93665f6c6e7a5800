// SPDX-License-Identifier: Apache-2.0
// Lines of a chart, drawn on a canvas or written as SVG: the same points, the same places.
import type { Curve, Curves } from './curves';

export interface Pen {
  move(x: number, y: number): void;
  line(x: number, y: number): void;
}
export interface Places {
  x(value: number): number;
  y(value: number): number;
}
export interface Look {
  colour: string;
  dashed: boolean;
}

/** One line through all points; a value that is no number, or none on this scale, ends it there. */
export function trace(pen: Pen, x: Float64Array, y: Float64Array, places: Places, log: boolean): void {
  let open = false;
  for (let at = 0; at < x.length; at++) {
    const value = y[at] ?? NaN;
    if (!Number.isFinite(value) || (log && value <= 0)) {
      open = false;
      continue;
    }
    const [px, py] = [places.x(x[at] ?? 0), places.y(value)];
    if (open) pen.line(px, py);
    else pen.move(px, py);
    // A point alone is a line of almost no length, whose round ends are a dot.
    if (!open) pen.line(px + 0.01, py);
    open = true;
  }
}

/** Where values are that have no place on the scale: NaN, and infinities at their side. */
export function oddPlaces(curve: Curve): { x: number; kind: 'nan' | 'up' | 'down' }[] {
  const found: { x: number; kind: 'nan' | 'up' | 'down' }[] = [];
  curve.y.forEach((value, at) => {
    if (!Number.isFinite(value)) found.push({ x: curve.x[at] ?? 0, kind: Number.isNaN(value) ? 'nan' : value > 0 ? 'up' : 'down' });
  });
  return found;
}

/** What the y scale has to hold, of the points in the window; null when there are none. */
export function rangeOf({ curves, base, from, to }: Curves, log: boolean): [number, number] | null {
  const [first, last] = [Number(from - base), Number(to - base)];
  let [low, high] = [Infinity, -Infinity];
  for (const curve of curves) {
    const take = (value: number) => {
      if (!Number.isFinite(value) || (log && value <= 0)) return;
      if (value < low) low = value;
      if (value > high) high = value;
    };
    curve.y.forEach((value, at) => {
      const x = curve.x[at] ?? 0;
      if (x >= first && x <= last) take(value);
      // Where a line crosses an edge of the window it is seen, too.
      const [px, py] = [curve.x[at - 1] ?? x, curve.y[at - 1] ?? value];
      for (const edge of [first, last]) if (px < edge && edge < x) take(py + ((value - py) * (edge - px)) / (x - px));
    });
  }
  if (low > high) return null;
  if (log) return [low / 1.1, high * 1.1];
  const room = high === low ? Math.abs(high) * 0.1 || 1 : (high - low) * 0.04;
  return [low - room, high + room];
}

/** The row of a curve next to an x. */
export function nearest(curve: Curve, x: number): number {
  let [low, high] = [0, curve.x.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((curve.x[middle] ?? 0) < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - (curve.x[low - 1] ?? 0) < (curve.x[low] ?? 0) - x ? low - 1 : low;
}
