import { isSecretKey, MASK, maskUrls } from './secrets.js'
import type { Field, ListLiteral, ObjectLiteral, Origin, Scalar } from './syntax-tree.js'

/** A value without unresolved substitutions. Lists and objects can be a part of another configuration, like literals. */
export type ResolvedValue = Scalar | ResolvedList | ResolvedObject

export interface ResolvedList extends ListLiteral {
  readonly items: readonly ResolvedValue[]
  /** The number of values in it, itself included. */
  readonly size: number
}

export class ResolvedObject implements ObjectLiteral {
  readonly kind = 'object'
  readonly fields: ReadonlyMap<string, ResolvedValue>
  readonly origin: Origin
  /** The number of values in it, itself included. */
  readonly size: number

  constructor(fields: ReadonlyMap<string, ResolvedValue>, origin: Origin, size: number) {
    this.fields = fields
    this.origin = origin
    this.size = size
  }

  get statements(): readonly Field[] {
    return [...this.fields].map(([key, value]) => ({ kind: 'field', path: [key], value }))
  }
}

/** Converts to plain data. `masked`: with secrets masked. */
export function toPlain(value: ResolvedValue, masked = false, key = ''): unknown {
  if (masked && isSecretKey(key)) return MASK
  if (value.kind === 'list') return value.items.map((item) => toPlain(item, masked))
  if (value.kind === 'scalar') {
    if (masked && value.secret) return MASK
    return masked && typeof value.value === 'string' ? maskUrls(value.value) : value.value
  }
  // `Object.fromEntries` makes `__proto__` an ordinary key. An assignment would not.
  return Object.fromEntries([...value.fields].map(([name, field]) => [name, toPlain(field, masked, name)]))
}

/** Describes a value for an error. `isSecret`: the path of the value contains a secret key. */
export function describeValue(value: ResolvedValue, isSecret: boolean): string {
  const kind = kindOf(value)
  if (value.kind !== 'scalar' || value.value === null) return kind
  if (isSecret || value.secret) return `${kind} (secret, not shown)`
  return `the ${typeof value.value} ${JSON.stringify(toPlain(value, true))}`
}

/** The kind of a value, with its article. */
export function kindOf(value: Scalar | { readonly kind: 'list' } | { readonly kind: 'object' }): string {
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'object') return 'an object'
  return value.value === null ? 'null' : `a ${typeof value.value}`
}

/** The items of a list, or of an object with numeric keys. */
export function itemsOf(value: ResolvedValue): readonly ResolvedValue[] | undefined {
  if (value.kind === 'list') return value.items
  if (value.kind === 'scalar') return undefined
  const items = numericKeys(value.fields.keys()).flatMap((key) => value.fields.get(key) ?? [])
  return items.length === 0 ? undefined : items
}

/** The integer keys of an object in ascending order. Such an object can be used as a list. */
export function numericKeys(keys: Iterable<string>): string[] {
  return [...keys].filter((key) => /^\d{1,15}$/.test(key)).sort((one, other) => Number(one) - Number(other))
}
