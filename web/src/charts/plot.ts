// SPDX-License-Identifier: Apache-2.0
// One chart on uPlot: its axes, cursor and selection. The lines are drawn from each curve's own points, so two
// points of one step, and runs that have no step in common, stay what they are.
import uPlot from 'uplot';
import { locale } from '../i18n/i18n.svelte';
import { span } from '../parts/times.svelte';
import type { Curves } from './curves';
import { oddPlaces, rangeOf, trace, type Look } from './draw';
import { computed } from './look';

export interface Setting {
  log: boolean;
  logX: boolean;
  sync: string;
  looks: Map<string, Look>;
  height: number;
  /** A value at the y axis. */
  text: (value: number) => string;
  /** Distances between ticks, where they are not the decimal ones. */
  incrs?: number[];
  select: (from: bigint, to: bigint) => void;
  reset: () => void;
  cursor: (x: number | null) => void;
}

export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(1).replace('e+', 'e');
  if (size >= 1000) return new Intl.NumberFormat(locale(), { notation: 'compact', maximumFractionDigits: 1 }).format(value);
  return new Intl.NumberFormat(locale(), size < 1 ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: 2 }).format(value);
}

/** An x as its axis says it. */
export function xText(data: Curves, value: number, exact = false): string {
  if (data.axis === 'relative') return span(value);
  if (data.axis === 'wall') {
    const style: Intl.DateTimeFormatOptions = exact ? { dateStyle: 'short', timeStyle: 'medium' } : { hour: '2-digit', minute: '2-digit', ...(Number(data.to - data.from) < 600_000 ? { second: '2-digit' } : {}) };
    return new Intl.DateTimeFormat(locale(), style).format(new Date(value));
  }
  if (exact || data.base !== 0n) return new Intl.NumberFormat(locale()).format(data.base + BigInt(Math.round(value)));
  return shortNumber(value);
}

export class Plot {
  private plot: uPlot;
  data: Curves;

  constructor(readonly holder: HTMLElement, data: Curves, private readonly setting: Setting) {
    this.data = data;
    const ink = (name: string) => () => computed(`var(${name})`, holder);
    const axis: uPlot.Axis = { stroke: ink('--third'), font: '11px system-ui, sans-serif', grid: { stroke: ink('--grid'), width: 1 }, ticks: { show: false }, gap: 6 };
    this.plot = new uPlot({
      width: Math.max(80, holder.clientWidth), height: setting.height, padding: [6, 10, 0, 0], legend: { show: false },
      scales: { x: { time: false, distr: setting.logX ? 3 : 1, range: () => this.xRange() }, y: { distr: setting.log ? 3 : 1, range: () => this.yRange() } },
      axes: [
        // Long steps need room; the first and last must not be cut.
        { ...axis, size: 24, grid: { show: false }, space: data.base !== 0n ? 150 : 64, values: (_, splits) => splits.map((value) => (value === null ? '' : xText(this.data, value))) },
        { ...axis, size: 50, space: 21, ...(setting.incrs ? { incrs: setting.incrs } : {}), values: (_, splits) => splits.map((value) => (value === null ? '' : setting.text(value))) },
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      cursor: {
        y: false, points: { show: false }, drag: { x: true, y: false, setScale: false },
        ...(setting.sync ? { sync: { key: setting.sync, setSeries: false, scales: ['x', null] as [string, null] } } : {}),
        bind: { dblclick: () => () => { setting.reset(); return null; } },
      },
      hooks: {
        draw: [(plot) => this.paint(plot)],
        setSelect: [(plot) => this.selected(plot)],
        setCursor: [(plot) => setting.cursor((plot.cursor.left ?? -1) < 0 ? null : plot.posToVal(plot.cursor.left ?? 0, 'x'))],
      },
    }, this.aligned(), holder);
  }

  private xRange(): [number, number] {
    const { from, to, base } = this.data;
    const [low, high] = [Number(from - base), Number(to - base)];
    if (this.setting.logX) return [Math.max(low, 1), Math.max(high, Math.max(low, 1) * 10)];
    return low === high ? [low - 1, high + 1] : [low, high];
  }
  private yRange(): [number, number] {
    return rangeOf(this.data, this.setting.log) ?? (this.setting.log ? [0.1, 10] : [0, 1]);
  }
  private aligned(): uPlot.AlignedData {
    const [low, high] = this.xRange();
    return [[low, high], [null, null]];
  }

  set(data: Curves, keepAxes: boolean): void {
    this.data = data;
    if (keepAxes) this.plot.redraw(false);
    else this.plot.setData(this.aligned());
  }
  resize(): void {
    const width = Math.max(80, this.holder.clientWidth);
    if (Math.abs(width - this.plot.width) > 1) this.plot.setSize({ width, height: this.setting.height });
  }
  redraw(): void {
    this.plot.redraw(false, true);
  }
  destroy(): void {
    this.plot.destroy();
  }
  get canvas(): HTMLCanvasElement {
    return this.plot.ctx.canvas;
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const low = Math.floor(plot.posToVal(left, 'x'));
    const high = Math.ceil(plot.posToVal(left + width, 'x'));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (high > low) this.setting.select(this.data.base + BigInt(low), this.data.base + BigInt(high));
  }

  private paint(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const dots = devicePixelRatio || 1;
    const { log } = this.setting;
    const places = { x: (value: number) => plot.valToPos(Math.max(value, this.setting.logX ? 1 : -Infinity), 'x', true), y: (value: number) => plot.valToPos(value, 'y', true) };
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineJoin = ctx.lineCap = 'round';
    for (const curve of this.data.curves) {
      const look = this.setting.looks.get(curve.run) ?? { colour: 'var(--line1)', dashed: false };
      ctx.strokeStyle = ctx.fillStyle = computed(look.colour, this.holder);
      const stroke = (y: Float64Array, width: number, alpha: number) => {
        ctx.globalAlpha = alpha;
        ctx.lineWidth = (curve.x.length === 1 ? 5 : width) * dots;
        ctx.setLineDash(look.dashed && y !== curve.y ? [6 * dots, 4 * dots] : look.dashed && !curve.smooth ? [6 * dots, 4 * dots] : []);
        ctx.beginPath();
        trace({ move: (x, at) => ctx.moveTo(x, at), line: (x, at) => ctx.lineTo(x, at) }, curve.x, y, places, log);
        ctx.stroke();
      };
      stroke(curve.y, curve.smooth ? 1 : 1.5, curve.smooth ? 0.32 : 1);
      if (curve.smooth) stroke(curve.smooth, 1.75, 1);
      ctx.globalAlpha = 1;
      for (const odd of oddPlaces(curve)) {
        const x = places.x(odd.x);
        const [edge, way] = odd.kind === 'up' ? [bbox.top + 1, 1] : [bbox.top + bbox.height - 1, -1];
        ctx.beginPath();
        if (odd.kind === 'nan') ctx.rect(x - 2.5 * dots, edge - 5 * dots, 5 * dots, 5 * dots);
        else for (const [dx, dy] of [[0, 0], [-4, 7], [4, 7]] as const) ctx.lineTo(x + dx * dots, edge + way * dy * dots);
        ctx.fill();
      }
    }
    ctx.restore();
  }
}
