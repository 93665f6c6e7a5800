// SPDX-License-Identifier: Apache-2.0
// Keys and values of configuration files, from the schema that the program has of them.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { get } from '../api/client';

export interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: boolean | Schema;
  description?: string;
  deprecated?: boolean;
  enum?: unknown[];
  type?: string | string[];
  if?: { anyOf?: { required?: string[] }[] };
  then?: Schema;
  else?: Schema;
}

const known = new Map<string, Promise<Schema>>();
export function schema(kind: string): Promise<Schema> {
  let asked = known.get(kind);
  if (!asked) {
    asked = get<Schema>(`api/v1/schemas/${kind}`);
    asked.catch(() => known.delete(kind));
    known.set(kind, asked);
  }
  return asked;
}

const keyLine = /^(\s*)(?:-\s+)?(["']?)([\w.\- ]+?)\2\s*:(?:\s|$)/;
const widthOf = (line: string) => /^\s*/.exec(line)?.[0].length ?? 0;

/** The keys above a line that it is inside of, from the outermost on. */
export function parents(lines: string[], at: number, indent: number): string[] {
  const found: string[] = [];
  let limit = indent;
  for (let number = at - 1; number >= 0 && limit > 0; number--) {
    const line = lines[number] ?? '';
    if (!line.trim() || line.trim().startsWith('#') || widthOf(line) >= limit) continue;
    const key = keyLine.exec(line)?.[3];
    limit = widthOf(line);
    if (key) found.unshift(key);
  }
  return found;
}

/** What may be at a place. A run configuration has two schemas; keys that only the later one has decide. */
export function within(whole: Schema, keys: string[], top: string[]): Schema | undefined {
  let here: Schema | undefined = whole;
  if (here.if) here = here.if.anyOf?.some((one) => one.required?.some((key) => top.includes(key))) ? here.then : here.else;
  for (const key of keys) {
    if (here?.items) here = here.items;
    here = here?.properties?.[key] ?? (typeof here?.additionalProperties === 'object' ? here.additionalProperties : undefined);
  }
  return here?.items?.properties ? here.items : here;
}

const valuesOf = (at: Schema): string[] => {
  if (at.enum) return at.enum.filter((value) => value !== null).map(String);
  const types = Array.isArray(at.type) ? at.type : [at.type];
  return types.includes('boolean') && !types.includes('string') ? ['true', 'false'] : [];
};

/** For YAML, which these files are; JSON is completed by its quotes, too. */
export function completeFrom(kind: string): (context: CompletionContext) => Promise<CompletionResult | null> {
  return async (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const lines = context.state.doc.toString().split('\n');
    const value = /^(\s*(?:-\s+)?)(["']?)([\w.\- ]+?)\2\s*:\s+(["']?)([\w.-]*)$/.exec(before);
    const key = /^(\s*(?:-\s+)?)["']?([\w.-]*)$/.exec(before);
    if (!value && !key) return null;
    const typed = (value ? value[5] : key?.[2]) ?? '';
    if (!value && !typed && !context.explicit) return null;
    let whole: Schema;
    try {
      whole = await schema(kind);
    } catch {
      return null;
    }
    const indent = widthOf(before);
    const top = lines.flatMap((one) => (widthOf(one) === 0 ? (keyLine.exec(one)?.[3] ?? []) : []));
    const here = within(whole, parents(lines, line.number - 1, indent), top);
    const from = context.pos - typed.length;
    if (value) {
      const of = here?.properties?.[value[3] ?? ''];
      const options = of ? valuesOf(of).map((label): Completion => ({ label, type: 'constant' })) : [];
      return options.length ? { from, options, validFor: /^[\w.-]*$/ } : null;
    }
    const options = Object.entries(here?.properties ?? {}).map(([label, of]): Completion => ({
      label, type: 'property', apply: `${label}: `, boost: of.deprecated ? -50 : 0, ...(of.description ? { info: of.description } : {}),
    }));
    return options.length ? { from, options, validFor: /^[\w.-]*$/ } : null;
  };
}
