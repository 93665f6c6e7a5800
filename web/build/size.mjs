// SPDX-License-Identifier: Apache-2.0
// What the page weighs, as it is sent: fails above the limits. The first load is what index.html names and what
// those files import at once; the rest comes when a view is opened.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const first_limit = 150_000;
const whole_limit = 700_000;
const report_limit = 150_000;
const prompt_limit = 95_000;
const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');

const filesBelow = (folder) => readdirSync(folder).flatMap((name) => {
  const path = join(folder, name);
  return statSync(path).isDirectory() ? filesBelow(path) : [path];
});
const weight = (path) => gzipSync(readFileSync(path), { level: 6 }).length;

// The report is no part of the page: it is written into files of its own.
const report = join(dist, 'report.html');
const files = filesBelow(dist).filter((path) => path !== report);
const first = new Set();
const take = (path) => {
  if (first.has(path)) return;
  first.add(path);
  const text = readFileSync(path, 'utf8');
  const names = path.endsWith('.html') ? [...text.matchAll(/(?:src|href)="([^"]+)"/g)]
    : path.endsWith('.js') ? [...text.matchAll(/(?:import|from)\s*["'](\.[^"']+)["']/g)] : [];
  for (const [, name] of names) take(join(dirname(path), name));
};
take(join(dist, 'index.html'));

const sum = (paths) => [...paths].reduce((total, path) => total + weight(path), 0);
const [at_first, whole] = [sum(first), sum(files)];
// The command prompt: its terminal and its view, fetched when the first is opened.
const prompt = files.filter((path) => /^(Prompt|prompt|terminal)[.-]/.test(relative(join(dist, 'assets'), path)));
const at_prompt = sum(prompt);
if (prompt.length < 3 || prompt.some((path) => first.has(path))) {
  console.error('the command prompt is not in files of its own any more');
  process.exit(1);
}
console.log(`first load: ${at_first} of ${first_limit} bytes in ${first.size} files; whole page: ${whole} of ${whole_limit} bytes in ${files.length} files; command prompt: ${at_prompt} of ${prompt_limit} bytes; a report without data: ${weight(report)} of ${report_limit} bytes (gzip)`);
if (at_first > first_limit || whole > whole_limit || weight(report) > report_limit || at_prompt > prompt_limit) {
  for (const path of files) console.error(`${String(weight(path)).padStart(8)} ${first.has(path) ? 'first' : '     '} ${relative(dist, path)}`);
  process.exit(1);
}
