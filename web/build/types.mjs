// SPDX-License-Identifier: Apache-2.0
// src/api/generated.ts from docs/api/openapi.json: one type for each of its schemas. With --check, whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const document = JSON.parse(readFileSync(file('../../docs/api/openapi.json'), 'utf8'));
const target = file('../src/api/generated.ts');
const plain = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

const union = (types) => [...new Set(types)].join(' | ');
const inList = (type) => (/ [|&] /.test(type) ? `(${type})` : type) + '[]';

function object({ properties, required = [], additionalProperties }) {
  // Other fields beside named ones have no type of their own: TypeScript would want all to fit it.
  if (!properties) return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
  return `{ ${Object.entries(properties).map(([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`).join('; ')} }`;
}

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ');
  if (schema.anyOf) return union(schema.anyOf.map(typeOf));
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))));
  const one = (type) => {
    if (type === 'array') return schema.prefixItems ? `[${schema.prefixItems.map(typeOf).join(', ')}]` : inList(typeOf(schema.items));
    if (type === 'object') return object(schema);
    if (!plain[type]) throw new Error(`types.mjs does not know the type in ${JSON.stringify(schema)}`);
    return plain[type];
  };
  return schema.type === undefined ? 'unknown' : union([schema.type].flat().map(one));
}

function declaration([name, schema]) {
  const about = schema.description ? `/** ${schema.description} */\n` : '';
  if (schema.type !== 'object' || !schema.properties) return `${about}export type ${name} = ${typeOf(schema)};\n`;
  const fields = Object.entries(schema.properties).map(([field, value]) =>
    (value.description ? `  /** ${value.description} */\n` : '') + `  ${field}${schema.required?.includes(field) ? '' : '?'}: ${typeOf(value)};\n`);
  return `${about}export interface ${name} {\n${fields.join('')}}\n`;
}

const text = '// SPDX-License-Identifier: Apache-2.0\n// Made by build/types.mjs from docs/api/openapi.json: change that, then run `node build/types.mjs`.\n\n'
  + Object.entries(document.components.schemas).map(declaration).join('');
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/api/generated.ts is not what docs/api/openapi.json says: run `node build/types.mjs` in web/');
  process.exit(1);
}
