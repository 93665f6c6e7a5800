// SPDX-License-Identifier: Apache-2.0
export type Kind = 'image' | 'html' | 'text' | 'other';
const kinds: [Kind, RegExp][] = [
  ['image', /\.(png|jpe?g|gif|webp|bmp|svg|avif)$/i],
  ['html', /\.html?$/i],
  ['other', /\.(bin|pt|pth|pkl|npz?|h5|onnx|safetensors|zip|t?gz|tar|xz|zst|parquet|so|whl|joblib|ckpt|mp4|pdf)$/i],
];
/** How a file is shown; what has no known ending is looked at as text. */
export const kindOf = (path: string): Kind => kinds.find(([, ending]) => ending.test(path))?.[0] ?? 'text';
const media: Record<string, string> = { svg: 'image/svg+xml', jpg: 'image/jpeg', jpeg: 'image/jpeg' };
export const mediaOf = (path: string) => {
  const ending = path.split('.').at(-1)?.toLowerCase() ?? '';
  return media[ending] ?? `image/${ending}`;
};
