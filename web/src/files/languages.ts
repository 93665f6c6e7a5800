// SPDX-License-Identifier: Apache-2.0
// How a file's text is coloured and completed, by its name.
import { StreamLanguage, type StreamParser } from '@codemirror/language';
import { json as jsonMode } from '@codemirror/legacy-modes/mode/javascript';
import { python as pythonMode } from '@codemirror/legacy-modes/mode/python';
import { shell as shellMode } from '@codemirror/legacy-modes/mode/shell';
import { toml as tomlMode } from '@codemirror/legacy-modes/mode/toml';
import { yaml as yamlMode } from '@codemirror/legacy-modes/mode/yaml';
import type { Extension } from '@codemirror/state';

interface MarkdownState {
  fence: string;
  start: boolean;
}
/** Headings, code, emphasis and links: what helps to read the source of a README. */
const markdownMode: StreamParser<MarkdownState> = {
  name: 'markdown',
  startState: () => ({ fence: '', start: true }),
  token(stream, state) {
    if (stream.sol()) {
      const fence = /^\s*(```+|~~~+)/.exec(stream.string)?.[1] ?? '';
      if (state.fence ? fence.startsWith(state.fence) : fence) {
        state.fence = state.fence ? '' : fence;
        stream.skipToEnd();
        return 'meta';
      }
      if (!state.fence && /^ {0,3}#{1,6}(\s|$)/.test(stream.string)) {
        stream.skipToEnd();
        return 'heading';
      }
      if (!state.fence && stream.match(/^\s*([-*+]|\d+[.)])\s+|^\s*>+\s?/)) return 'keyword';
    }
    if (state.fence) {
      stream.skipToEnd();
      return 'string';
    }
    if (stream.match(/^`[^`]*`/)) return 'string';
    if (stream.match(/^\*\*[^*]+\*\*|^__[^_]+__/)) return 'strong';
    if (stream.match(/^\*[^*\s][^*]*\*|^_[^_\s][^_]*_/)) return 'emphasis';
    if (stream.match(/^!?\[[^\]]*\]\([^)]*\)/)) return 'link';
    stream.next();
    return null;
  },
};

const modes: [RegExp, StreamParser<unknown>][] = [
  [/\.(py|pyw|pyi)$|^snakefile$/i, pythonMode as StreamParser<unknown>],
  [/\.(json|jsonl|ipynb|webmanifest|dprep|dsource)$/i, jsonMode as StreamParser<unknown>],
  [/\.(md|markdown)$/i, markdownMode as StreamParser<unknown>],
  [/\.(sh|bash|zsh)$/i, shellMode as StreamParser<unknown>],
  [/\.toml$|^uv\.lock$/i, tomlMode as StreamParser<unknown>],
  [/\.(ya?ml|compute|runconfig)$|^mlproject$/i, yamlMode as StreamParser<unknown>],
];

export function languageOf(path: string): Extension {
  const name = path.split('/').at(-1) ?? '';
  const mode = modes.find(([names]) => names.test(name))?.[1];
  return mode ? StreamLanguage.define(mode) : [];
}

/** The schema whose keys are completed; '' where none is known. The daemon decides what a file is when it is checked. */
export function schemaOf(path: string): string {
  const name = (path.split('/').at(-1) ?? '').toLowerCase();
  if (name.endsWith('.compute')) return 'compute';
  if (name.endsWith('.runconfig')) return 'runconfig';
  if (name === 'mlproject') return 'mlproject';
  if (/spark_dependencies/.test(name)) return 'spark';
  if (/conda.*\.ya?ml$|^environment\.ya?ml$/.test(name)) return 'conda';
  if (/(^|\.)project\.json$/.test(name)) return 'project';
  return '';
}
/** Whether the daemon may have remarks about such a file. */
export const isChecked = (path: string) => schemaOf(path) !== '' || /base_dependencies|\.json$/i.test(path);
