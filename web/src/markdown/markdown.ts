// SPDX-License-Identifier: Apache-2.0
// Markdown as a tree, which components draw: HTML in it stays text. What READMEs use, not all of CommonMark.
// Each line is looked at a few times, however it is written: depth and lengths have limits.

export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'strike'; inside: Inline[] }
  | { kind: 'link'; to: string; inside: Inline[] }
  | { kind: 'image'; from: string; alt: string }
  | { kind: 'break' };
export type Block =
  | { kind: 'heading'; level: number; inside: Inline[] }
  | { kind: 'paragraph'; inside: Inline[] }
  | { kind: 'code'; text: string; language: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][]; ends: ('left' | 'right' | 'center')[] }
  | { kind: 'rule' };

const deepest = 8;
const longest_line = 20_000;

const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const fence = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`]*)$/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const tableRow = (line: string) => {
  const cells = line.trim().replace(/^\|/, '').replace(/\|$/, '').split(/(?<!\\)\|/);
  return cells.slice(0, 60).map((cell) => cell.trim().replaceAll('\\|', '|'));
};
const tableEnds = (line: string) => /^[ |:-]+$/.test(line) && line.includes('-') && line.includes('|');

export function blocksOf(text: string, depth = 0): Block[] {
  const lines = text.split(/\r\n?|\n/).map((line) => line.slice(0, longest_line).replaceAll('\t', '    '));
  return read(lines, depth);
}

function read(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let open: string[] = [];
  const close = () => {
    if (open.length) blocks.push({ kind: 'paragraph', inside: inlineOf(open.join('\n')) });
    open = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (!line.trim()) {
      close();
      continue;
    }
    const fenced = fence.exec(line);
    if (fenced) {
      close();
      const mark = fenced[2] ?? '```';
      const inside: string[] = [];
      for (at++; at < lines.length; at++) {
        const one = (lines[at] ?? '').trim();
        if (one.startsWith(mark) && one.replaceAll(mark[0] ?? '`', '') === '') break;
        inside.push((lines[at] ?? '').slice(/^ */.exec(lines[at] ?? '')?.[0].length ? Math.min((fenced[1] ?? '').length, (/^ */.exec(lines[at] ?? '')?.[0].length ?? 0)) : 0));
      }
      blocks.push({ kind: 'code', text: inside.join('\n'), language: (fenced[3] ?? '').trim().split(' ')[0] ?? '' });
      continue;
    }
    const head = heading.exec(line);
    if (head) {
      close();
      blocks.push({ kind: 'heading', level: (head[1] ?? '#').length, inside: inlineOf(head[2] ?? '') });
      continue;
    }
    if (open.length && /^ {0,3}(=+|-+)[ ]*$/.test(line)) {
      const inside = inlineOf(open.join('\n'));
      open = [];
      blocks.push({ kind: 'heading', level: line.includes('=') ? 1 : 2, inside });
      continue;
    }
    if (rule.test(line)) {
      close();
      blocks.push({ kind: 'rule' });
      continue;
    }
    if (/^ {0,3}>/.test(line)) {
      close();
      const inside: string[] = [];
      for (; at < lines.length && (lines[at] ?? '').trim(); at++) inside.push((lines[at] ?? '').replace(/^ {0,3}> ?/, ''));
      at--;
      blocks.push(depth < deepest ? { kind: 'quote', blocks: read(inside, depth + 1) } : { kind: 'paragraph', inside: [{ kind: 'text', text: inside.join('\n') }] });
      continue;
    }
    const first = item.exec(line);
    // A paragraph is interrupted by a list that begins at one, not by a sentence with a number in front.
    if (first && depth < deepest && !(open.length && /\d/.test(first[2] ?? '') && !/^1[.)]/.test(first[2] ?? ''))) {
      close();
      const ordered = /\d/.test(first[2] ?? '');
      const list: Block = { kind: 'list', ordered, start: ordered ? parseInt(first[2] ?? '1', 10) : 1, items: [] };
      while (at < lines.length) {
        const begin = item.exec(lines[at] ?? '');
        if (!begin || /\d/.test(begin[2] ?? '') !== ordered || rule.test(lines[at] ?? '')) break;
        const indent = begin[0].length > (begin[1] ?? '').length + (begin[2] ?? '').length + 4 ? (begin[1] ?? '').length + (begin[2] ?? '').length + 1 : begin[0].length;
        const inside = [(lines[at] ?? '').slice(begin[0].length)];
        for (at++; at < lines.length; at++) {
          const next = lines[at] ?? '';
          const width = /^ */.exec(next)?.[0].length ?? 0;
          if (!next.trim()) {
            const after = lines[at + 1] ?? '';
            if (!after.trim() || (/^ */.exec(after)?.[0].length ?? 0) < Math.min(indent, 2)) break;
            inside.push('');
          } else if (width >= Math.min(indent, 2)) inside.push(next.slice(Math.min(width, indent)));
          else if (item.test(next) || fence.test(next) || heading.test(next) || /^ {0,3}>/.test(next) || inside.at(-1) === '') break;
          else inside.push(next);
        }
        list.items.push(read(inside, depth + 1));
        // A blank line between two items of one list.
        if (!(lines[at] ?? '').trim() && item.test(lines[at + 1] ?? '')) at++;
      }
      at--;
      blocks.push(list);
      continue;
    }
    if (!open.length && line.includes('|') && tableEnds(lines[at + 1] ?? '')) {
      const ends = tableRow(lines[at + 1] ?? '').map((cell) => (/^:-+:$/.test(cell) ? 'center' : /-:$/.test(cell) ? 'right' : 'left') as 'left');
      const rows: Inline[][][] = [];
      for (at += 2; at < lines.length && (lines[at] ?? '').includes('|'); at++) rows.push(tableRow(lines[at] ?? '').map(inlineOf));
      at--;
      blocks.push({ kind: 'table', head: tableRow(line).map(inlineOf), rows, ends });
      continue;
    }
    if (!open.length && line.startsWith('    ')) {
      const inside: string[] = [];
      for (; at < lines.length && (/^ {4}/.test(lines[at] ?? '') || !(lines[at] ?? '').trim()); at++) inside.push((lines[at] ?? '').slice(4));
      at--;
      blocks.push({ kind: 'code', text: inside.join('\n').replace(/\n+$/, ''), language: '' });
      continue;
    }
    open.push(line.trimStart());
  }
  close();
  return blocks;
}

const marks = /[\\`*_~![<\n]|https?:\/\//g;

export function inlineOf(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  const add = (piece: string) => {
    const last = out.at(-1);
    if (last?.kind === 'text') last.text += piece;
    else if (piece) out.push({ kind: 'text', text: piece });
  };
  if (depth > deepest) return [{ kind: 'text', text }];
  // What has no partner once has none later either: so each mark is searched for once.
  const without = new Set<string>();
  const partner = (mark: string, from: number) => {
    if (without.has(mark)) return -1;
    const found = text.indexOf(mark, from);
    if (found < 0) without.add(mark);
    return found;
  };
  let at = 0;
  while (at < text.length) {
    marks.lastIndex = at;
    const found = marks.exec(text);
    if (!found) {
      add(text.slice(at));
      break;
    }
    add(text.slice(at, found.index));
    at = found.index;
    const rest = text.slice(at, at + 4000);
    const sign = text[at] ?? '';
    if (sign === '\\') {
      if (text[at + 1] === '\n') out.push({ kind: 'break' });
      else add(/[!-/:-@[-`{-~]/.test(text[at + 1] ?? '') ? (text[at + 1] ?? '') : text.slice(at, at + 2));
      at += 2;
    } else if (sign === '\n') {
      const last = out.at(-1);
      if (last?.kind === 'text' && last.text.endsWith('  ')) {
        last.text = last.text.trimEnd();
        out.push({ kind: 'break' });
      } else add('\n');
      at++;
    } else if (sign === '`') {
      const mark = /^`+/.exec(rest)?.[0] ?? '`';
      const end = partner(mark, at + mark.length);
      if (end < 0) add(mark);
      else out.push({ kind: 'code', text: text.slice(at + mark.length, end).replaceAll('\n', ' ').replace(/^ (.*\S.*) $/, '$1') });
      at = end < 0 ? at + mark.length : end + mark.length;
    } else if (sign === '*' || sign === '_' || sign === '~') {
      const mark = /^(\*\*|__|~~|\*|_)/.exec(rest)?.[0] ?? '';
      const inWord = sign === '_' && /\w/.test(text[at - 1] ?? '');
      const end = mark && !inWord && /\S/.test(text[at + mark.length] ?? ' ') ? partner(mark, at + mark.length + 1) : -1;
      if (end < 0 || /\s/.test(text[end - 1] ?? '') || (sign === '_' && /\w/.test(text[end + mark.length] ?? ''))) {
        add(mark || sign);
        at += (mark || sign).length;
      } else {
        out.push({ kind: mark === '~~' ? 'strike' : mark.length === 2 ? 'strong' : 'emphasis', inside: inlineOf(text.slice(at + mark.length, end), depth + 1) });
        at = end + mark.length;
      }
    } else if (sign === '[' || sign === '!') {
      const link = linkAt(rest);
      if (!link) {
        add(sign);
        at++;
      } else {
        if (link.image) out.push({ kind: 'image', from: link.to, alt: link.label });
        else out.push({ kind: 'link', to: link.to, inside: inlineOf(link.label, depth + 1) });
        at += link.size;
      }
    } else if (sign === '<') {
      const address = /^<(https?:\/\/[^\s<>]{1,2000})>/.exec(rest);
      if (address) out.push({ kind: 'link', to: address[1] ?? '', inside: [{ kind: 'text', text: address[1] ?? '' }] });
      else if (/^<!--/.test(rest) && text.includes('-->', at)) at = text.indexOf('-->', at) + 3 - 1;
      else add('<');
      at += address ? address[0].length : 1;
    } else {
      const address = /^https?:\/\/[^\s<>"'`]{1,2000}/.exec(rest)?.[0].replace(/[.,;:!?)\]*_]+$/, '') ?? 'http';
      if (address.length > 8) out.push({ kind: 'link', to: address, inside: [{ kind: 'text', text: address }] });
      else add(address);
      at += address.length;
    }
  }
  return out;
}

/** "[label](address)" or "![…](…)" at the beginning of a text; brackets in the label count. */
function linkAt(text: string): { label: string; to: string; image: boolean; size: number } | null {
  const image = text.startsWith('![');
  if (!image && !text.startsWith('[')) return null;
  let depth = 0;
  let at = image ? 1 : 0;
  const begin = at + 1;
  for (; at < text.length; at++) {
    const sign = text[at];
    if (sign === '\\') at++;
    else if (sign === '[') depth++;
    else if (sign === ']' && --depth === 0) break;
  }
  const rest = /^\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(at + 1));
  if (!rest) return null;
  return { label: text.slice(begin, at), to: rest[1] ?? rest[2] ?? '', image, size: at + 1 + rest[0].length };
}

/** Where a link of a project's file leads: out to the web, to a file inside the project, or nowhere. */
export function targetOf(link: string, folder: string): { web: string } | { file: string } | null {
  if (/^https?:\/\//i.test(link)) {
    try {
      const address = new URL(link);
      return address.protocol === 'http:' || address.protocol === 'https:' ? { web: address.href } : null;
    } catch {
      return null;
    }
  }
  // Any other scheme, and what browsers take for one: "javascript:", "//host", "\\host".
  const path = (link.split(/[?#]/, 1)[0] ?? '').trim();
  if (!path || /^[\w+.-]*:/.test(path) || /[\u0000-\u001f\\]/.test(path) || path.startsWith('//')) return null;
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return null;
  }
  if (/[\u0000-\u001f\\]/.test(decoded)) return null;
  const parts: string[] = path.startsWith('/') ? [] : folder.split('/').filter(Boolean);
  for (const part of decoded.split('/')) {
    if (part === '..') {
      if (!parts.length) return null;
      parts.pop();
    } else if (part && part !== '.') parts.push(part);
  }
  return parts.length ? { file: parts.join('/') } : null;
}
