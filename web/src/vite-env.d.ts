// SPDX-License-Identifier: Apache-2.0
declare module 'virtual:catalogue/*' {
  const catalogue: Record<string, string | Record<string, string>>;
  export default catalogue;
}
declare module 'virtual:licences' {
  const licences: { name: string; version: string; licence: string; text: string }[];
  export default licences;
}
