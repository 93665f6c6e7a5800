// SPDX-License-Identifier: Apache-2.0
// src/parts/metric_words.ts from src/model/metric_direction.cpp: by which words of a metric's name less or more is
// better. With --check, whether it is up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const source = file('../../src/model/metric_direction.cpp');
const target = file('../src/parts/metric_words.ts');

function listOf(text, name) {
  const found = new RegExp(`${name}\\[\\] = \\{([^}]*)\\}`).exec(text);
  if (!found) throw new Error(`${source} has no list '${name}'`);
  return found[1].match(/"([^"]+)"/g).map((word) => `'${word.slice(1, -1)}'`);
}

// The page is also built from web/ alone.
if (existsSync(source)) {
  const words = readFileSync(source, 'utf8');
  const text = '// SPDX-License-Identifier: Apache-2.0\n// Made by build/words.mjs from src/model/metric_direction.cpp: change that, then run `node build/words.mjs`.\n'
    + ['lower', 'higher'].map((way) => `export const ${way}: ReadonlySet<string> = new Set([${listOf(words, `${way}_words`).join(', ')}]);\n`).join('');
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text);
  } else if (readFileSync(target, 'utf8') !== text) {
    console.error('src/parts/metric_words.ts is not what src/model/metric_direction.cpp says: run `node build/words.mjs` in web/');
    process.exit(1);
  }
}
