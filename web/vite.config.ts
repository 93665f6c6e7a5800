// SPDX-License-Identifier: Apache-2.0
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { generated } from './build/generated.mjs';
import { xtermStyles } from './build/xterm_styles.mjs';

// For work on the page: `npm run dev` beside a daemon, whose loopback port is PONK_PORT.
const daemon = `http://127.0.0.1:${process.env.PONK_PORT ?? '8080'}`;
const forwarded = { target: daemon, changeOrigin: false, ws: true };

export default defineConfig({
  base: './',
  plugins: [svelte(), generated(), xtermStyles()],
  optimizeDeps: { exclude: ['@xterm/xterm'] },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
  server: { port: Number(process.env.PAGE_PORT ?? '5173'), strictPort: true, proxy: { '/api': forwarded, '/ajax-api': forwarded } },
});
