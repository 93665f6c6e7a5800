// SPDX-License-Identifier: Apache-2.0
// The report of `ponk history export --html`: the page's own parts in one file, with all languages.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { generated } from './build/generated.mjs';
import { oneFile } from './build/report.mjs';

const wanted = (key: string) => /^(charts|compare|part|report|run|runs|state|verdict|nav)\./.test(key);

export default defineConfig({
  plugins: [svelte(), generated(wanted), oneFile()],
  build: {
    target: 'es2022',
    emptyOutDir: false,
    cssCodeSplit: false,
    copyPublicDir: false,
    reportCompressedSize: false,
    lib: { entry: 'src/report/main.ts', formats: ['iife'], name: 'ponk_report', fileName: 'report' },
  },
});
