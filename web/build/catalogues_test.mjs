// SPDX-License-Identifier: Apache-2.0
// The check of the catalogues finds what it is there for.
import assert from 'node:assert/strict';
import { problemsOf, usedKeys } from './catalogues.mjs';

const source = "t('a.b'); t(`state.${word}`)";
const english = { 'a.b': 'A {name}', 'state.x': { one: '{n} run', other: '{n} runs' } };
const german = { 'a.b': 'Ein {name}', 'state.x': { one: '{n} Lauf', other: '{n} Läufe' } };
const found = (catalogues) => problemsOf(catalogues, [source]).join('\n');

assert.equal(found({ en: english, de: german }), '');
assert.match(found({ en: english, de: { 'a.b': 'Ein {name}' } }), /de: 'state.x' is missing/);
assert.match(found({ en: { ...english, 'a.c': 'C' }, de: { ...german, 'a.c': 'C' } }), /en: 'a.c' is used nowhere/);
assert.match(found({ en: english, de: { ...german, 'a.b': 'Ein' } }), /fills \{\}, en fills \{name\}/);
assert.match(found({ en: english, de: { ...german, 'a.d': '' } }), /de: 'a.d' is not in en/);
assert.match(found({ en: english, cs: german }), /cs: 'state.x' has no form 'few'/);
assert.deepEqual([...usedKeys([source]).beginnings], ['state.']);
console.log('the check of catalogues finds what is missing, unused and unlike');
