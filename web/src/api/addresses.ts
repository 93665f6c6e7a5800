// SPDX-License-Identifier: Apache-2.0
// Addresses that a frame, an image or a download can use: good for some minutes, and for this one thing.
import { send } from './client';
import type { SignedAddress } from './types';

export async function signed(path: string, show: 'frame' | 'download', query: Record<string, string> = {}): Promise<string> {
  return (await send<SignedAddress>('POST', 'api/v1/ui/addresses', { path, query, show })).address;
}

/** The browser's own download: it may be larger than what a page can hold. */
export async function download(path: string, name: string, query: Record<string, string> = {}): Promise<void> {
  const link = document.createElement('a');
  link.href = await signed(path, 'download', query);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

/** Something that the page made itself. */
export function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
