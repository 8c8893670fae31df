import type { Origin } from './origin.js'
import type { Scalar } from './syntax-tree.js'

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

/** As plain data. `__proto__` is a key like any other. */
export function toPlain(value: ResolvedValue): unknown {
  if (value.kind === 'scalar') return value.value
  if (value.kind === 'list') return value.items.map(toPlain)
  const plain: Record<string, unknown> = {}
  for (const [key, field] of value.fields) {
    if (key === '__proto__') {
      Object.defineProperty(plain, key, { value: toPlain(field), enumerable: true, writable: true, configurable: true })
    } else {
      plain[key] = toPlain(field)
    }
  }
  return plain
}
