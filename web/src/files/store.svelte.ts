// SPDX-License-Identifier: Apache-2.0
// The folders and files that are open. They outlive the view: what is not saved yet is there when it comes back.
import type { EditorState, Text } from '@codemirror/state';
import { ApiError, ask, get, send } from '../api/client';
import type { ProjectFolder as Folder } from '../api/types';
import type { Remark } from './editor';

export type { FolderEntry as Entry, ProjectFolder as Folder } from '../api/types';
/** What can be done with a file: edited, or only looked at. */
export type Shown = 'loading' | 'text' | 'image' | 'binary' | 'large' | 'gone';
export interface OpenFile {
  project: string;
  path: string;
  shown: Shown;
  size: number;
  /** Of the text that was read last. */
  digest: string;
  /** By the folder's list, when it was read. */
  stamp: string;
  text: string;
  unsaved: boolean;
  saving: boolean;
  problem: unknown;
  remarks: Remark[];
  /** The file on disk is another one by now: its text, or null when it is gone. */
  disk: { text: string | null; digest: string } | null;
}

export const most_text = 4 << 20;
const images = /\.(png|jpe?g|gif|webp|bmp|svg|avif)$/i;

export const files = $state<{ project: string; folders: Record<string, Folder>; expanded: string[]; problem: unknown; open: OpenFile[]; asking: string }>({
  project: '', folders: {}, expanded: [], problem: null, open: [], asking: '',
});
/** Editors' own states: histories and selections. Not for Svelte's eyes, they are large. */
export const states = new Map<string, EditorState>();
const saved = new Map<string, Text>();

const place = (what: string, path: string, project: string) => `api/v1/projects/${encodeURIComponent(project)}/${what}?path=${encodeURIComponent(escaped(path))}`;
// Bytes that are no UTF-8 come as lone surrogates, which no address can hold.
const escaped = (path: string) => path.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
export const fileAddress = (path: string) => place('file', path, files.project);
export const parentOf = (path: string) => path.split('/').slice(0, -1).join('/');
export const nameOf = (path: string) => path.split('/').at(-1) ?? path;
export const below = (folder: string, name: string) => (folder ? `${folder}/${name}` : name);
export const openFile = (path: string) => files.open.find((one) => one.path === path);
export const unsaved = () => files.open.filter((one) => one.unsaved);

const drafts = new Map<string, { open: OpenFile[]; expanded: string[] }>();
export function useProject(id: string): void {
  if (files.project === id) return;
  if (files.project) drafts.set(files.project, { open: files.open, expanded: files.expanded });
  const kept = drafts.get(id);
  [files.project, files.folders, files.problem] = [id, {}, null];
  [files.open, files.expanded] = [kept?.open ?? [], kept?.expanded ?? []];
  drafts.delete(id);
}
const everyOpen = () => [files.open, ...[...drafts.values()].map((one) => one.open)].flat();
// Of every project and in every view: the whole page goes.
addEventListener('beforeunload', (event) => { if (everyOpen().some((one) => one.unsaved)) event.preventDefault(); });

const entryOf = (path: string) => files.folders[parentOf(path)]?.entries.find((one) => one.name === nameOf(path));
const stampOf = (path: string) => {
  const entry = entryOf(path);
  return entry ? `${entry.size} ${entry.changed}` : '';
};

// Another project may be shown whenever something was waited for: what is waited for belongs to the one of before.
async function loadFolder(path: string, project: string): Promise<void> {
  const folder = await get<Folder>(place('files', path, project));
  if (files.project !== project) return;
  // The same list is the same object: rows are not drawn again.
  if (JSON.stringify(files.folders[path]) !== JSON.stringify(folder)) files.folders[path] = folder;
}

/** Everything that is shown, once more. */
export async function refresh(): Promise<void> {
  const project = files.project;
  if (files.asking === project || !project) return;
  const here = () => files.project === project;
  files.asking = project;
  try {
    await loadFolder('', project);
    if (!here()) return;
    files.problem = null;
    const wanted = new Set([...files.expanded, ...files.open.map((one) => parentOf(one.path))]);
    wanted.delete('');
    await Promise.all([...wanted].map((path) => loadFolder(path, project).catch((problem: unknown) => {
      if (!(problem instanceof ApiError) || problem.kind === 'offline') throw problem;
      if (!here()) return;
      files.expanded = files.expanded.filter((one) => one !== path);
      delete files.folders[path];
    })));
    if (here()) await Promise.all(files.open.map((one) => lookAgain(one)));
  } catch (problem) {
    if (here()) files.problem = problem;
  } finally {
    if (files.asking === project) files.asking = '';
  }
}

async function expand(path: string): Promise<void> {
  const project = files.project;
  await loadFolder(path, project);
  if (files.project === project && !files.expanded.includes(path)) files.expanded = [...files.expanded, path];
}
export async function toggle(path: string): Promise<void> {
  const project = files.project;
  if (files.expanded.includes(path)) {
    files.expanded = files.expanded.filter((one) => one !== path);
    return;
  }
  try {
    await expand(path);
  } catch (problem) {
    if (files.project === project) files.problem = problem;
  }
}

interface Read {
  text: string;
  digest: string;
  shown: Shown;
  size: number;
}
async function read({ project, path }: OpenFile): Promise<Read> {
  const response = await ask(place('file', path, project));
  const size = Number(response.headers.get('Ponk-Size') ?? 0);
  const digest = response.headers.get('Ponk-Digest') ?? '';
  if (!digest) {
    await response.body?.cancel();
    return { text: '', digest, shown: 'large', size };
  }
  const content = new Uint8Array(await response.arrayBuffer());
  try {
    if (content.subarray(0, 8192).includes(0)) throw new TypeError();
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content), digest, shown: 'text', size };
  } catch {
    return { text: '', digest, shown: 'binary', size };
  }
}

/** The folders above a file are opened, so that the tree shows it. */
async function reveal(path: string): Promise<void> {
  const above = path.split('/').slice(0, -1).map((_, at, all) => all.slice(0, at + 1).join('/'));
  const project = files.project;
  for (const folder of above) {
    if (files.project === project && !files.expanded.includes(folder)) await expand(folder).catch(() => undefined);
  }
}

export async function open(path: string): Promise<void> {
  if (openFile(path)) return;
  void reveal(path);
  files.open = [...files.open, { project: files.project, path, shown: 'loading', size: 0, digest: '', stamp: stampOf(path), text: '', unsaved: false, saving: false, problem: null, remarks: [], disk: null }];
  await load(path);
}
async function load(path: string): Promise<void> {
  const file = openFile(path);
  if (!file) return;
  file.problem = null;
  if (images.test(path)) {
    [file.shown, file.size] = ['image', entryOf(path)?.size ?? 0];
    return;
  }
  try {
    const now = await read(file);
    // Closed meanwhile, it may be open again, and typed into.
    if (!everyOpen().includes(file)) return;
    Object.assign(file, now);
    states.delete(keyOf(file));
  } catch (problem) {
    file.problem = problem;
    if (problem instanceof ApiError && problem.status === 404) file.shown = 'gone';
  }
}
export const retry = (path: string) => void load(path);
export function close(path: string): void {
  const file = openFile(path);
  if (!file) return;
  files.open = files.open.filter((one) => one !== file);
  states.delete(keyOf(file));
  saved.delete(keyOf(file));
}

export const keyOf = (file: OpenFile) => `${file.project}\n${file.path}`;
export const savedText = (file: OpenFile) => saved.get(keyOf(file));
export const keepSaved = (file: OpenFile, text: Text) => void saved.set(keyOf(file), text);

/** The list of its folder says that a file is another one: an unchanged editor follows it, a changed one is told. */
async function lookAgain(file: OpenFile): Promise<void> {
  const stamp = stampOf(file.path);
  if (stamp === file.stamp || file.saving || file.shown === 'loading') return;
  file.stamp = stamp;
  if (file.shown === 'image') return;
  let now: Read | null = null;
  try {
    now = await read(file);
  } catch (problem) {
    if (!(problem instanceof ApiError) || problem.status !== 404) return;
  }
  if (file.saving || now?.digest === file.digest) {
    if (now && !file.saving) file.disk = null;
    return;
  }
  if (file.unsaved) file.disk = now?.shown === 'text' ? { text: now.text, digest: now.digest } : now ? null : { text: null, digest: '' };
  else if (now) {
    Object.assign(file, now);
    file.disk = null;
    states.delete(keyOf(file));
    arrived.number++;
  } else file.shown = 'gone';
}
/** Goes up when a text that is shown was replaced from the disk. */
export const arrived = $state({ number: 0 });

/** True when it is on disk as it is here. `now` is what the editor has. */
export async function save(file: OpenFile, now: Text): Promise<boolean> {
  const { project, path } = file;
  if (file.saving || file.shown !== 'text') return false;
  file.saving = true;
  file.problem = null;
  try {
    const stored = await send<{ digest: string; size: number }>('PUT', place('file', path, project), { text: now.toString(), digest: file.digest || null });
    [file.digest, file.size, file.disk] = [stored.digest, stored.size, null];
    if (!everyOpen().includes(file)) return true;
    keepSaved(file, now);
    const state = states.get(keyOf(file));
    file.unsaved = state !== undefined && !state.doc.eq(now);
    return true;
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 409) {
      const disk = await read(file).catch((error: unknown) => (error instanceof ApiError && error.status === 404 ? null : undefined));
      if (disk === null) file.disk = { text: null, digest: '' };
      else if (disk?.shown === 'text') file.disk = { text: disk.text, digest: disk.digest };
      else file.problem = problem;
    } else file.problem = problem;
    return false;
  } finally {
    file.saving = false;
    void loadFolder(parentOf(path), project).then(() => { if (!file.disk && files.project === project) file.stamp = stampOf(path); }, () => undefined);
  }
}

/** A new file, empty; fails where there is one already. */
export async function make(path: string): Promise<void> {
  const project = files.project;
  await send('PUT', place('file', path, project), { text: '', digest: null });
  await loadFolder(parentOf(path), project);
}
