// SPDX-License-Identifier: Apache-2.0
// The areas of the catalogue; their keys are the type of every key. A new area is a file in each folder of
// locales/ and a line in both lists here.
import charts from '../../locales/en/charts.json';
import compare from '../../locales/en/compare.json';
import files from '../../locales/en/files.json';
import prompt from '../../locales/en/prompt.json';
import report from '../../locales/en/report.json';
import run from '../../locales/en/run.json';
import runs from '../../locales/en/runs.json';
import shell from '../../locales/en/shell.json';
import views from '../../locales/en/views.json';

export const english = { ...charts, ...compare, ...files, ...prompt, ...report, ...run, ...shell, ...runs, ...views };
export type Key = keyof typeof english;
