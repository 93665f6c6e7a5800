// SPDX-License-Identifier: Apache-2.0
// The catalogues of the page: one folder for each language, one file for each area. As a program it checks
// them: each key of English is in each language, with the same places to fill and all plural forms of that
// language, and is used by the sources.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const languages = ['en', 'de', 'fr', 'nl', 'cs', 'pt-BR'];

/** All areas of one language in one object. */
export function catalogueOf(language, folder = join(root, 'locales')) {
  const all = {};
  for (const name of readdirSync(join(folder, language)).sort()) {
    if (!name.endsWith('.json')) continue;
    const area = JSON.parse(readFileSync(join(folder, language, name), 'utf8'));
    for (const [key, value] of Object.entries(area)) {
      if (key in all) throw new Error(`locales/${language}/${name}: '${key}' is in another file of ${language} too`);
      all[key] = value;
    }
  }
  return all;
}

const textsOf = (value) => (typeof value === 'string' ? [value] : Object.values(value));
const placesOf = (value) => [...new Set(textsOf(value).flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1])))].sort();

function sourcesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesBelow(path);
    return /\.(ts|svelte)$/.test(entry.name) ? [path] : [];
  });
}

/** Texts 'x.y' of the sources, and the beginnings of those put together: `x.${y}`. */
export function usedKeys(sources) {
  const whole = new Set();
  const beginnings = new Set();
  for (const text of sources) {
    for (const match of text.matchAll(/['"`]([a-z]\w*(?:\.\w+)+)['"`]/g)) whole.add(match[1]);
    for (const match of text.matchAll(/`([a-z]\w*(?:\.\w+)*\.)\$\{/g)) beginnings.add(match[1]);
  }
  return { whole, beginnings };
}

/** What is wrong with catalogues, as sentences. */
export function problemsOf(catalogues, sources) {
  const problems = [];
  const english = catalogues.en;
  const { whole, beginnings } = usedKeys(sources);
  for (const key of Object.keys(english)) {
    if (!whole.has(key) && ![...beginnings].some((start) => key.startsWith(start))) problems.push(`en: '${key}' is used nowhere`);
  }
  for (const [language, catalogue] of Object.entries(catalogues)) {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const key of Object.keys(english)) {
      if (!(key in catalogue)) {
        problems.push(`${language}: '${key}' is missing`);
        continue;
      }
      const value = catalogue[key];
      if ((typeof value === 'string') !== (typeof english[key] === 'string')) problems.push(`${language}: '${key}' has plural forms in only one of ${language} and en`);
      else if (typeof value !== 'string') {
        for (const form of forms) if (!(form in value)) problems.push(`${language}: '${key}' has no form '${form}'`);
      }
      if (placesOf(value).join() !== placesOf(english[key]).join()) problems.push(`${language}: '${key}' fills {${placesOf(value)}}, en fills {${placesOf(english[key])}}`);
    }
    for (const key of Object.keys(catalogue)) if (!(key in english)) problems.push(`${language}: '${key}' is not in en`);
  }
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const catalogues = Object.fromEntries(languages.map((language) => [language, catalogueOf(language)]));
  const paths = sourcesBelow(join(root, 'src'));
  const problems = problemsOf(catalogues, paths.map((path) => readFileSync(path, 'utf8')));
  for (const problem of problems) console.error(`locales: ${problem}`);
  if (problems.length) process.exit(1);
  console.log(`${Object.keys(catalogues.en).length} texts in ${languages.length} languages, used by ${paths.length} files of ${relative(process.cwd(), join(root, 'src'))}`);
}
