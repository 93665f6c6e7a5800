// SPDX-License-Identifier: Apache-2.0
// A chart as a file: the picture that is shown, the same as drawing, and its points.
import type { Curves } from './curves';
import { rangeOf, trace, type Look } from './draw';
import { computed } from './look';
import { shortNumber, xText } from './plot';

export async function pngOf(canvas: HTMLCanvasElement, title: string): Promise<Blob> {
  const dots = devicePixelRatio || 1;
  const out = document.createElement('canvas');
  [out.width, out.height] = [canvas.width, canvas.height + 28 * dots];
  const ctx = out.getContext('2d');
  if (!ctx) throw new Error('This browser gives no canvas');
  ctx.fillStyle = computed('var(--panel)', document.documentElement);
  ctx.fillRect(0, 0, out.width, out.height);
  ctx.fillStyle = computed('var(--text)', document.documentElement);
  ctx.font = `600 ${13 * dots}px system-ui, sans-serif`;
  ctx.fillText(title, 12 * dots, 19 * dots);
  ctx.drawImage(canvas, 0, 28 * dots);
  return new Promise((done, fail) => out.toBlob((blob) => (blob ? done(blob) : fail(new Error('The picture is too large'))), 'image/png'));
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b-\u001f]/g, '');

export function svgOf(data: Curves, looks: Map<string, Look>, title: string, log: boolean): Blob {
  const [width, height, left, top, right, bottom] = [800, 420, 60, 40, 16, 32];
  const [low, high] = rangeOf(data, log) ?? [0, 1];
  const [first, last] = [Number(data.from - data.base), Math.max(Number(data.to - data.base), Number(data.from - data.base) + 1)];
  const scale = log ? Math.log10 : (value: number) => value;
  const x = (value: number) => left + ((value - first) / (last - first)) * (width - left - right);
  const y = (value: number) => height - bottom - ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (height - top - bottom);
  const style = (name: string) => computed(`var(${name})`, document.documentElement);
  const parts = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui,sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="${style('--panel')}"/><text x="12" y="22" font-size="14" font-weight="600" fill="${style('--text')}">${escaped(title)}</text>`,
    `<clipPath id="c"><rect x="${left}" y="${top}" width="${width - left - right}" height="${height - top - bottom}"/></clipPath>`];
  for (let step = 0; step <= 4; step++) {
    const value = log ? low * (high / low) ** (step / 4) : low + ((high - low) * step) / 4;
    const at = first + ((last - first) * step) / 4;
    parts.push(`<path d="M${left} ${y(value).toFixed(1)}H${width - right}" stroke="${style('--grid')}"/>`,
      `<text x="${left - 8}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end" fill="${style('--third')}">${escaped(shortNumber(value))}</text>`,
      `<text x="${x(at).toFixed(1)}" y="${height - 10}" text-anchor="middle" fill="${style('--third')}">${escaped(xText(data, at))}</text>`);
  }
  for (const curve of data.curves) {
    const look = looks.get(curve.run);
    const path = (values: Float64Array, wide: number, alpha: number) => {
      const words: string[] = [];
      trace({ move: (px, py) => words.push(`M${px.toFixed(1)} ${py.toFixed(1)}`), line: (px, py) => words.push(`L${px.toFixed(1)} ${py.toFixed(1)}`) }, curve.x, values, { x, y }, log);
      parts.push(`<path d="${words.join('')}" clip-path="url(#c)" fill="none" stroke="${computed(look?.colour ?? 'var(--line1)', document.documentElement)}" stroke-width="${wide}" opacity="${alpha}" stroke-linejoin="round" stroke-linecap="round"${look?.dashed ? ' stroke-dasharray="6 4"' : ''}/>`);
    };
    path(curve.y, curve.smooth ? 1 : 1.6, curve.smooth ? 0.3 : 1);
    if (curve.smooth) path(curve.smooth, 1.8, 1);
  }
  return new Blob([...parts, '</svg>'], { type: 'image/svg+xml' });
}

const field = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text)) ? `"'${text}"` : text);

export function csvOf(data: Curves, nameOf: (run: string) => string): Blob {
  const lines = [`run,name,metric,${data.axis},value${data.curves.some((curve) => curve.smooth) ? ',smoothed' : ''}\n`];
  for (const curve of data.curves) {
    const head = [curve.run, nameOf(curve.run), curve.key].map(field).join(',');
    for (let at = 0; at < curve.x.length; at++) {
      const x = data.base + BigInt(Math.round(curve.x[at] ?? 0));
      lines.push(`${head},${x},${curve.y[at]}${curve.smooth ? `,${curve.smooth[at]}` : ''}\n`);
    }
  }
  return new Blob(lines, { type: 'text/csv' });
}
