// SPDX-License-Identifier: Apache-2.0
// Name, version, licence and its text of each package whose code is in the page.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export function licences() {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys(dependencies).map((name) => {
    const folder = join(root, 'node_modules', name);
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file || !existsSync(join(folder, file))) throw new Error(`${name} has no file with its licence`);
    return { name, version: about.version, licence: about.license, text: readFileSync(join(folder, file), 'utf8') };
  });
}
