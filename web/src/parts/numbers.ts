// SPDX-License-Identifier: Apache-2.0
import { locale } from '../i18n/i18n.svelte';

/** A measured value in few characters, the same number of digits for alike values; the whole one is in its title. */
export function figure(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number') return '–';
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
  if (Number.isInteger(value)) return new Intl.NumberFormat(locale()).format(value);
  return new Intl.NumberFormat(locale(), size >= 1000 ? { maximumFractionDigits: 1 }
    : size >= 1 ? { minimumSignificantDigits: 5, maximumSignificantDigits: 5 } : { minimumFractionDigits: 4, maximumFractionDigits: 4 }).format(value);
}

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = count;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: value < 10 && unit ? 1 : 0 }).format(value)} ${units[unit]}`;
}

/** Characters that are not seen, or that turn the text around them, as their numbers: a name must not look like another. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A long name keeps its beginning and end: both tell it apart. */
export function middle(whole: string, most = 60): string {
  const text = visible(whole);
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** A run keeps its line in every chart and table: colour 1 to 6, dashes beyond. */
export function lineOf(run_id: string): { colour: string; dashed: boolean } {
  let sum = 0;
  for (const sign of run_id.slice(-12)) sum = (sum * 31 + sign.charCodeAt(0)) >>> 0;
  return { colour: `var(--line${(sum % 6) + 1})`, dashed: Math.floor(sum / 6) % 2 === 1 };
}
