// SPDX-License-Identifier: Apache-2.0
// Times as people say them: relative up to a day, then local date and time. `clock.now` moves every second,
// so what shows it changes in place.
import { locale } from '../i18n/i18n.svelte';

export const clock = $state({ now: Date.now() });
setInterval(() => {
  if (document.visibilityState === 'visible') clock.now = Date.now();
}, 1000);

const day = 86_400_000;
const steps: [Intl.RelativeTimeFormatUnit, number][] = [['hour', 3_600_000], ['minute', 60_000], ['second', 1000]];

export function when(time: string | null, now: number = clock.now): string {
  if (!time) return '–';
  const past = now - Date.parse(time);
  if (past >= day || past < -60_000) {
    const date = new Date(time);
    const near = past < 6 * day && past > 0;
    return new Intl.DateTimeFormat(locale(), near ? { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
      : date.getFullYear() === new Date(now).getFullYear() ? { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
        : { day: 'numeric', month: 'short', year: 'numeric' }).format(date);
  }
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' });
  for (const [unit, size] of steps) if (past >= size) return format.format(-Math.floor(past / size), unit).replace('.', '');
  return format.format(0, 'second');
}

/** A sentence of the daemon in less room: the end of a run's id, and times by the clock of this place. */
export function brief(sentence: string, now: number = clock.now): string {
  const clock_time = (time: string) => new Intl.DateTimeFormat(locale(), { ...(now - Date.parse(time) < day ? {} : { day: 'numeric', month: 'short' }), hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(time));
  return sentence.replace(/\b[0-9a-f]{24}([0-9a-f]{8})\b/g, '$1').replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, clock_time);
}

export function exactly(time: string | null): string {
  return time ? new Intl.DateTimeFormat(locale(), { dateStyle: 'full', timeStyle: 'long' }).format(new Date(time)) : '';
}

/** Milliseconds since then; of no time, no number. */
export const age = (time: string | null) => (time ? clock.now - Date.parse(time) : NaN);

/** 0.4 s, 0:12, 22:05, 3:04:09, 2 d 03:04 */
export function span(milliseconds: number | null): string {
  if (milliseconds === null || !Number.isFinite(milliseconds) || milliseconds < 0) return '–';
  if (milliseconds < 950) return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: milliseconds < 95 ? 2 : 1 }).format(milliseconds / 1000)} s`;
  const seconds = Math.max(1, Math.floor(milliseconds / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${two(hours % 24)}:${two(minutes)}`;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Date and time in a table that is read at any time. */
export function moment(time: string | null): string {
  return time ? new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(time)) : '–';
}
