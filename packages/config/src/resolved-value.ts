import { isSecretKey, MASK, maskUrls } from './secrets.js'
import type { Origin, Scalar } from './syntax-tree.js'

/** A value all of whose substitutions are replaced. */
export type ResolvedValue = Scalar | ResolvedList | ResolvedObject

interface Container {
  readonly origin: Origin
  /** Whether it came from, or through, a key that holds a secret. */
  readonly secret: boolean
  /** How many values it is, those within counted. */
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

/** What stands in the place of a value, `undefined` for the value itself. */
type Replacement = (value: ResolvedValue, key?: string) => string | undefined

/** As plain data, with replacements where there are any. `__proto__` is a key like any other. */
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

/** A value as plain data, without its secrets. */
export function withoutSecrets(value: ResolvedValue): unknown {
  return toPlain(value, (one, key) => {
    if (one.secret || (key !== undefined && isSecretKey(key))) return MASK
    return one.kind === 'scalar' && typeof one.value === 'string' ? maskUrls(one.value) : undefined
  })
}

/** What a value is, for an error; `isSecret` where its path says so. */
export function describeValue(value: ResolvedValue, isSecret: boolean): string {
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'object') return 'an object'
  if (value.value === null) return 'null'
  const kind = `a ${typeof value.value}`
  return isSecret || value.secret
    ? `${kind} that is not shown`
    : `the ${typeof value.value} ${JSON.stringify(withoutSecrets(value))}`
}

/** The keys of an object that stands for a list: those that are integers, in the order of these. */
export function numericKeys(keys: Iterable<string>): string[] {
  return [...keys].filter((key) => /^\d{1,15}$/.test(key)).sort((one, other) => Number(one) - Number(other))
}
