// SPDX-License-Identifier: Apache-2.0
// A notebook as what can be shown of it without running anything: texts, pictures, and the words of the rest.

export interface Output {
  kind: 'text' | 'error' | 'image' | 'left-out';
  text: string;
  /** Of an image. */
  media: string;
}
export interface Cell {
  kind: 'markdown' | 'code' | 'raw';
  source: string;
  count: number | null;
  outputs: Output[];
}
export interface Notebook {
  language: string;
  cells: Cell[];
}

const most_cells = 2000;
const most_text = 100_000;
const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'];
type Loose = Record<string, unknown>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);
const joined = (value: unknown): string => (Array.isArray(value) ? value.map(String).join('') : typeof value === 'string' ? value : '');
// Colours of terminals are left out: what remains is what was said.
const plain = (text: string) => text.slice(0, most_text).replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/[^\n]*\r(?!\n)/g, '');

function outputOf(value: unknown): Output | null {
  if (!isObject(value)) return null;
  const type = value.output_type;
  if (type === 'stream') return { kind: 'text', text: plain(joined(value.text)), media: '' };
  if (type === 'error' || type === 'pyerr') {
    const trace = Array.isArray(value.traceback) ? value.traceback.map(String).join('\n') : '';
    return { kind: 'error', text: plain(trace || `${String(value.ename)}: ${String(value.evalue)}`), media: '' };
  }
  const data = isObject(value.data) ? value.data : value;
  for (const media of pictures) {
    const content = joined(data[media] ?? data[media.slice('image/'.length)]);
    if (!content) continue;
    return { kind: 'image', text: media === 'image/svg+xml' ? content : content.replace(/\s/g, ''), media };
  }
  const text = joined(data['text/plain'] ?? data.text);
  if (text) return { kind: 'text', text: plain(text), media: '' };
  const names = Object.keys(data).filter((key) => key.includes('/'));
  return names.length ? { kind: 'left-out', text: names.join(', '), media: '' } : null;
}

/** Null when the text is no notebook. */
export function notebookOf(text: string): Notebook | null {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(whole)) return null;
  const sheet = Array.isArray(whole.worksheets) && isObject(whole.worksheets[0]) ? whole.worksheets[0] : whole;
  if (!Array.isArray(sheet.cells)) return null;
  const about = isObject(whole.metadata) ? whole.metadata : {};
  const info = isObject(about.language_info) ? about.language_info : isObject(about.kernelspec) ? about.kernelspec : {};
  const cells = sheet.cells.slice(0, most_cells).filter(isObject).map((cell): Cell => {
    const kind = cell.cell_type === 'markdown' || cell.cell_type === 'code' ? cell.cell_type : cell.cell_type === 'heading' ? 'markdown' : 'raw';
    const count = cell.execution_count ?? cell.prompt_number;
    const outputs = Array.isArray(cell.outputs) ? cell.outputs.slice(0, 200).map(outputOf).filter((one) => one !== null) : [];
    return { kind, source: joined(cell.source ?? cell.input), count: typeof count === 'number' ? count : null, outputs };
  });
  return { language: joined(info.name ?? info.language), cells };
}

/** The bytes of a picture; null for what is none. It is shown as an image, where nothing of it can run. */
export function pictureOf(output: Output): Blob | null {
  if (output.media === 'image/svg+xml') return new Blob([output.text], { type: output.media });
  try {
    return new Blob([Uint8Array.from(atob(output.text), (sign) => sign.charCodeAt(0))], { type: output.media });
  } catch {
    return null;
  }
}
