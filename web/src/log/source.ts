// SPDX-License-Identifier: Apache-2.0
// A log of any size, read in blocks of bytes where it is looked at. A line belongs to the block in which it
// begins; a block is read up to the end of its last line, so that blocks can be read in any order.
import { ask, get } from '../api/client';
import type { LogTail } from '../api/types';

export interface Line {
  /** Where it begins, in bytes of the log. */
  at: number;
  bytes: number;
  text: string;
  /** It goes on behind what was read. */
  cut: boolean;
}

export const block = 256 * 1024;
/** So far beyond its end a block is read for the rest of its last line. */
const beyond = 1024 * 1024;
const kept_blocks = 48;

interface Block {
  /** From one byte before the block (that tells whether a line begins with it), or from 0. */
  raw: Uint8Array;
  lines: Line[] | null;
  whole: boolean;
}

const newline = 10;
const decoder = new TextDecoder('utf-8');

export class LogSource {
  size = 0;
  private readonly blocks = new Map<number, Promise<Block>>();
  private readonly ready = new Map<number, Block>();
  private readonly stop = new AbortController();

  constructor(readonly run: string) {}

  close(): void {
    this.stop.abort();
  }

  /** At most `most` bytes from there; `enough` is asked about the last of them. */
  private async read(at: number, most: number, enough: (bytes: Uint8Array) => boolean = () => false, signal?: AbortSignal): Promise<{ bytes: Uint8Array; ended: boolean }> {
    const own = new AbortController();
    const all = AbortSignal.any([own.signal, this.stop.signal, ...(signal ? [signal] : [])]);
    const response = await ask(`api/v1/runs/${this.run}/log?offset=${at}`, { signal: all });
    const reader = response.body?.getReader();
    const parts: Uint8Array[] = [];
    let sum = 0;
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done || !piece.value) return { bytes: joined(parts, sum), ended: true };
      parts.push(piece.value);
      sum += piece.value.length;
      if (sum >= most || (sum >= most - beyond && enough(joined(parts, sum)))) {
        own.abort();
        return { bytes: joined(parts, sum).subarray(0, most), ended: false };
      }
    }
  }

  private async has(at: number): Promise<boolean> {
    return at < 0 || (await this.read(at, 1)).bytes.length > 0;
  }

  /** Finds the end of the log. What is served may be longer or shorter than its file: secrets are masked. */
  async measure(): Promise<number> {
    const { from } = await get<LogTail>(`api/v1/runs/${this.run}/log/tail?lines=1`, this.stop.signal);
    const own = new AbortController();
    const response = await ask(`api/v1/runs/${this.run}/log?from=${from}`, { signal: AbortSignal.any([own.signal, this.stop.signal]) });
    const reader = response.body?.getReader();
    let guess = from;
    for (let piece = await reader?.read(); piece?.value && guess < from + beyond; piece = await reader?.read()) guess += piece.value.length;
    own.abort();
    let [low, high] = [guess, guess];
    for (let step = 1; low > 0 && !(await this.has(low - 1)); step *= 4) [low, high] = [Math.max(0, low - step), low - 1];
    if (low === guess) for (let step = 64 * 1024; await this.has(high); step *= 4) [low, high] = [high + 1, high + step];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await this.has(middle)) low = middle + 1;
      else high = middle;
    }
    this.size = Math.max(this.size, low);
    return this.size;
  }

  /** Takes what was written since; true when there was something. */
  async grow(): Promise<boolean> {
    const before = this.size;
    const { bytes, ended } = await this.read(before, beyond * 4);
    if (bytes.length === 0 || this.size !== before) return false;
    this.size += bytes.length;
    // Blocks that were read to the old end go on; much at once is read again where it is looked at.
    for (const [number, old] of this.ready) {
      const start = number === 0 ? 0 : number * block - 1;
      if (old.whole || start + old.raw.length !== before) continue;
      const next = this.made(number, joined([old.raw, bytes], old.raw.length + bytes.length));
      this.ready.set(number, next);
      this.blocks.set(number, Promise.resolve(next));
    }
    if (!ended) await this.measure();
    return true;
  }

  private made(number: number, raw: Uint8Array): Block {
    const start = number === 0 ? 0 : number * block - 1;
    const end = (number + 1) * block;
    // Its last line ends behind the block: what comes after it is another block's.
    const found = start + raw.length >= end ? raw.indexOf(newline, Math.max(0, end - 1 - start)) : -1;
    if (found >= 0) return { raw: raw.slice(0, found + 1), lines: null, whole: true };
    return { raw, lines: null, whole: raw.length >= end - start + beyond };
  }

  private load(number: number): Promise<Block> {
    const known = this.blocks.get(number);
    if (known) return known;
    const start = number === 0 ? 0 : number * block - 1;
    const length = (number + 1) * block - start;
    const coming = this.read(start, length + beyond, (bytes) => bytes.length >= length && bytes.indexOf(newline, length - 1) >= 0).then(
      ({ bytes }) => {
        const made = this.made(number, bytes);
        this.ready.set(number, made);
        return made;
      },
    );
    coming.catch(() => this.blocks.delete(number));
    this.blocks.set(number, coming);
    if (this.blocks.size > kept_blocks) {
      const oldest = [...this.blocks.keys()].find((one) => Math.abs(one - number) > 2);
      if (oldest !== undefined) {
        this.blocks.delete(oldest);
        this.ready.delete(oldest);
      }
    }
    return coming;
  }

  private static linesOf(number: number, { raw }: Block): Line[] {
    const base = number === 0 ? 0 : number * block - 1;
    const end = (number + 1) * block;
    let at = 0;
    if (number > 0) {
      at = raw.indexOf(newline) + 1;
      if (at === 0) return [];
    }
    const lines: Line[] = [];
    while (at < raw.length && base + at < end) {
      const found = raw.indexOf(newline, at);
      const stop = found < 0 ? raw.length : found;
      lines.push({ at: base + at, bytes: stop - at, text: decoder.decode(raw.subarray(at, stop)), cut: found < 0 && stop - at >= beyond / 2 });
      at = stop + 1;
    }
    return lines;
  }

  /** The lines of a block, when it is there; else it is fetched, and `then` is called when it has come. */
  linesNow(number: number, then: () => void, failed: (problem: unknown) => void): Line[] | null {
    const block_ = this.ready.get(number);
    if (block_) return (block_.lines ??= LogSource.linesOf(number, block_));
    this.load(number).then(then, failed);
    return null;
  }
  async linesLater(number: number): Promise<Line[]> {
    const block_ = await this.load(number);
    return (block_.lines ??= LogSource.linesOf(number, block_));
  }
  get count(): number {
    return Math.ceil(this.size / block);
  }
}

function joined(parts: Uint8Array[], sum: number): Uint8Array {
  if (parts.length === 1 && parts[0]) return parts[0];
  const all = new Uint8Array(sum);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
