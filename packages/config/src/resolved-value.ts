import { isSecretKey, MASK, maskUrls } from './secrets.js'
import type { Origin, Scalar } from './syntax-tree.js'

/** A value without unresolved substitutions. */
export type ResolvedValue = Scalar | ResolvedList | ResolvedObject

interface Container {
  readonly origin: Origin
  /** Whether the value came from a secret key, directly or by substitution. */
  readonly secret: boolean
  /** The number of values in it, itself included. */
  readonly size: number
}

export interface ResolvedList extends Container {
  readonly kind: 'list'
  readonly items: readonly ResolvedValue[]
}

export interface ResolvedObject extends Container {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, ResolvedValue>
}

/** Returns a replacement for a value, or `undefined` to keep the value. */
type Replacement = (value: ResolvedValue, key?: string) => string | undefined

/** Converts to plain data, with replacements. `__proto__` becomes an ordinary key. */
export function toPlain(value: ResolvedValue, replacement: Replacement = () => undefined, key?: string): unknown {
  const other = replacement(value, key)
  if (other !== undefined) return other
  if (value.kind === 'scalar') return value.value
  if (value.kind === 'list') return value.items.map((item) => toPlain(item, replacement))
  const plain: Record<string, unknown> = {}
  for (const [name, field] of value.fields) {
    const data = toPlain(field, replacement, name)
    if (name !== '__proto__') plain[name] = data
    else Object.defineProperty(plain, name, { value: data, enumerable: true, writable: true, configurable: true })
  }
  return plain
}

/** Converts to plain data with secrets masked. */
export function withoutSecrets(value: ResolvedValue): unknown {
  return toPlain(value, (one, key) => {
    if (one.secret || (key !== undefined && isSecretKey(key))) return MASK
    return one.kind === 'scalar' && typeof one.value === 'string' ? maskUrls(one.value) : undefined
  })
}

/** Describes a value for an error. `isSecret`: the path of the value contains a secret key. */
export function describeValue(value: ResolvedValue, isSecret: boolean): string {
  const kind = kindOf(value)
  if (value.kind !== 'scalar' || value.value === null) return kind
  if (isSecret || value.secret) return `${kind} (secret, not shown)`
  return `the ${typeof value.value} ${JSON.stringify(withoutSecrets(value))}`
}

/** The kind of a value, with its article. */
export function kindOf(value: Scalar | { readonly kind: 'list' } | { readonly kind: 'object' }): string {
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'object') return 'an object'
  return value.value === null ? 'null' : `a ${typeof value.value}`
}

/** The integer keys of an object in ascending order. Such an object can be used as a list. */
export function numericKeys(keys: Iterable<string>): string[] {
  return [...keys].filter((key) => /^\d{1,15}$/.test(key)).sort((one, other) => Number(one) - Number(other))
}
