// SPDX-License-Identifier: Apache-2.0
// The kinds of machines that can be attached, and what each needs.
import type { Key } from '../i18n/i18n.svelte';

export interface Kind {
  word: string;
  text: Key;
  ssh: boolean;
  docker: boolean;
}
export const kinds: readonly Kind[] = [
  { word: 'remotedocker', text: 'targets.remotedocker', ssh: true, docker: true },
  { word: 'remote', text: 'targets.remote', ssh: true, docker: false },
  { word: 'localdocker', text: 'targets.localdocker', ssh: false, docker: true },
  { word: 'local', text: 'targets.local', ssh: false, docker: false },
];
export const kindOf = (word: string) => kinds.find((kind) => kind.word === word);
