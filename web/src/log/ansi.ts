// SPDX-License-Identifier: Apache-2.0
// One line of a terminal as pieces of text with a look: colours, weights, and what a carriage return overwrote.
// The page makes elements of the pieces; no markup is ever read from a log.

export interface Piece {
  text: string;
  /** Names of classes: `bold f1 b4`. */
  look: string;
  /** Of the 216 colours and true colours, which have no class. */
  colour?: string;
  /** Where the text is an address that may be opened. */
  link?: string;
}

interface Look {
  bold: boolean; dim: boolean; italic: boolean; under: boolean; invert: boolean;
  fore: number | string | null;
  back: number | null;
}
const plain = (): Look => ({ bold: false, dim: false, italic: false, under: false, invert: false, fore: null, back: null });

const levels = [0, 95, 135, 175, 215, 255];
function of256(code: number): number | string {
  if (code < 16) return code;
  if (code >= 232) return `rgb(${Array(3).fill(8 + (code - 232) * 10).join(' ')})`;
  const place = code - 16;
  return `rgb(${[Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((level) => levels[level] ?? 0).join(' ')})`;
}

/** The words of `ESC [ … m`. */
function change(look: Look, words: number[]): void {
  for (let at = 0; at < words.length; at++) {
    const code = words[at] ?? 0;
    if (code === 0) Object.assign(look, plain());
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.under = true;
    else if (code === 7) look.invert = true;
    else if (code === 22) look.bold = look.dim = false;
    else if (code === 23) look.italic = false;
    else if (code === 24) look.under = false;
    else if (code === 27) look.invert = false;
    else if (code >= 30 && code <= 37) look.fore = code - 30;
    else if (code >= 90 && code <= 97) look.fore = code - 82;
    else if (code === 39) look.fore = null;
    else if (code >= 40 && code <= 47) look.back = code - 40;
    else if (code >= 100 && code <= 107) look.back = code - 92;
    else if (code === 49) look.back = null;
    else if (code === 38 || code === 48) {
      const wide = words[at + 1] === 2;
      const byte = (place: number) => Math.min(255, Math.max(0, words[at + place] ?? 0));
      const colour = wide ? `rgb(${byte(2)} ${byte(3)} ${byte(4)})` : of256(byte(2));
      if (code === 38) look.fore = colour;
      else look.back = typeof colour === 'number' ? colour : null;
      at += wide ? 4 : 2;
    }
  }
}

function named(look: Look): { look: string; colour?: string } {
  const words: string[] = [];
  if (look.bold) words.push('bold');
  if (look.dim) words.push('dim');
  if (look.italic) words.push('italic');
  if (look.under) words.push('under');
  if (look.invert) words.push('invert');
  if (typeof look.fore === 'number') words.push(`f${look.fore % 8}`);
  if (look.back !== null) words.push(`b${look.back % 8}`);
  return typeof look.fore === 'string' ? { look: words.join(' '), colour: look.fore } : { look: words.join(' ') };
}

const address = /https?:\/\/[^\s<>"'`\u0000-\u001f]+/g;
function withLinks(piece: Piece): Piece[] {
  const parts: Piece[] = [];
  let done = 0;
  for (const found of piece.text.matchAll(address)) {
    const link = found[0].replace(/[.,;:!?)\]}]+$/, '');
    if (found.index > done) parts.push({ ...piece, text: piece.text.slice(done, found.index) });
    parts.push({ ...piece, text: link, link });
    done = found.index + link.length;
  }
  if (done < piece.text.length) parts.push({ ...piece, text: piece.text.slice(done) });
  return parts;
}

/** As many characters of a line are read; who needs more opens the whole line. */
const most = 20_000;

/** The pieces of a line without its line end. */
export function piecesOf(line: string): Piece[] {
  let text = line.endsWith('\r') ? line.slice(0, -1) : line;
  // A progress bar of many states: only the last of them can be seen.
  if (text.length > most && text.includes('\r')) text = text.slice(text.lastIndexOf('\r', text.length - 2) + 1);
  text = text.slice(0, most);
  const cells: string[] = [];
  const looks: { look: string; colour?: string }[] = [];
  const look = plain();
  let name = named(look);
  let column = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === '\u001b') {
      const next = text[at + 1];
      if (next === '[') {
        let end = at + 2;
        while (end < text.length && !/[@-~]/.test(text[end] ?? '')) end++;
        const words = text.slice(at + 2, end);
        if (text[end] === 'm' && /^[\d;:]*$/.test(words)) {
          change(look, words.split(/[;:]/).map(Number));
          name = named(look);
        } else if (text[end] === 'K') {
          if (words === '2') cells.fill(' ');
          else if (words === '' || words === '0') cells.length = looks.length = Math.min(cells.length, column);
        }
        at = end;
      } else if (next === ']') {
        // A title or a link of the terminal: ends with BEL or ESC \.
        const bell = text.indexOf('\u0007', at);
        const slash = text.indexOf('\u001b\\', at + 2);
        const ends = [bell, slash < 0 ? -1 : slash + 1].filter((end) => end > 0);
        at = ends.length ? Math.min(...ends) : text.length;
      } else at++;
      continue;
    }
    if (sign === '\r') {
      column = 0;
      continue;
    }
    if (sign === '\b') {
      column = Math.max(0, column - 1);
      continue;
    }
    // Both halves of a character beyond the first plane are one cell.
    const code = text.charCodeAt(at);
    const whole = code >= 0xd800 && code < 0xdc00 ? sign + (text[++at] ?? '') : sign === '\t' ? '    ' : code < 32 ? '·' : sign;
    cells[column] = whole;
    looks[column] = name;
    column++;
  }
  const pieces: Piece[] = [];
  let last: Piece | undefined;
  for (let at = 0; at < cells.length; at++) {
    const now = looks[at] ?? { look: '' };
    if (last && last.look === now.look && last.colour === now.colour) last.text += cells[at] ?? ' ';
    else pieces.push((last = { text: cells[at] ?? ' ', ...now }));
  }
  return pieces.flatMap(withLinks);
}
