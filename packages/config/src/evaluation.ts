import { ConfigLimitError, ConfigResolveError } from './config-error.js'
import type { Limits } from './limits.js'
import { type ResolvedList, ResolvedObject, type ResolvedValue } from './resolved-value.js'
import type { Resolver } from './resolver.js'
import type { Unresolved } from './slot.js'
import type { Origin } from './syntax-tree.js'
import type { ListValue, ObjectView, Value } from './value.js'

/** Thrown when a value contains itself. Caught at an optional substitution of the cycle, if there is one. */
class Cycle extends ConfigResolveError {
  constructor(origin: Origin) {
    super('this value contains itself through a cycle of substitutions: remove one of them', origin)
  }
}

/** Resolves every value of the configuration once. */
export class Evaluation {
  readonly #resolver: Resolver
  readonly #limits: Limits
  readonly #done = new Map<ListValue | ObjectView, ResolvedList | ResolvedObject>()
  readonly #running = new Set<ListValue | ObjectView>()

  constructor(resolver: Resolver, limits: Limits) {
    this.#resolver = resolver
    this.#limits = limits
  }

  /** Returns the whole configuration. Throws a `ConfigResolveError` if a substitution has no value. */
  root(): ResolvedObject {
    return this.#object(this.#resolver.root)
  }

  #value(found: Value, origin: Origin): ResolvedValue {
    if (found.kind === 'scalar') return found
    const value = found.kind === 'object' ? found.original() : found
    const done = this.#done.get(value)
    if (done !== undefined) return done
    if (this.#running.has(value)) throw new Cycle(origin)
    this.#running.add(value)
    try {
      const resolved = this.#resolver.deeper(origin, () =>
        value.kind === 'list' ? this.#list(value) : this.#object(value),
      )
      if (resolved.size > this.#limits.maxValues) {
        throw new ConfigLimitError(
          `the configuration has more values than maxValues (${this.#limits.maxValues})`,
          origin,
        )
      }
      this.#done.set(value, resolved)
      return resolved
    } finally {
      this.#running.delete(value)
    }
  }

  #list({ items, origin }: ListValue): ResolvedList {
    const resolved = items.flatMap((item) => {
      const value = this.#resolver.item(item)
      const assigned = item.kind === 'unresolved' ? item : undefined
      return value === undefined ? [] : (this.#unlessCyclic(value, assigned, origin) ?? [])
    })
    return { kind: 'list', items: resolved, origin, size: sizeOf(resolved) }
  }

  #object(view: ObjectView): ResolvedObject {
    const fields = new Map<string, ResolvedValue>()
    for (const key of view.keys()) {
      const resolved = this.#field(view, key)
      if (resolved !== undefined) fields.set(key, resolved)
    }
    return new ResolvedObject(fields, view.origin, sizeOf(fields.values()))
  }

  /** If a value contains itself through an optional substitution, the key keeps its earlier value. */
  #field(view: ObjectView, key: string): ResolvedValue | undefined {
    for (let entry = view.get(key); entry !== undefined; entry = view.get(key)) {
      const { value, assignment } = entry
      const resolved = this.#unlessCyclic(value, assignment, value.origin)
      if (resolved !== undefined) return resolved
      view.forget(key)
    }
    return undefined
  }

  /** If a value contains itself through an optional substitution, the substitution is left without a value. */
  #unlessCyclic(value: Value, assigned: Unresolved | undefined, origin: Origin): ResolvedValue | undefined {
    const expression = assigned?.expression
    try {
      return this.#value(value, expression?.origin ?? origin)
    } catch (error) {
      const isOptional = expression?.kind === 'reference' && expression.optional
      if (!(error instanceof Cycle) || assigned === undefined || !isOptional) throw error
      this.#resolver.forgetValue(assigned)
      return undefined
    }
  }
}

/** The number of values in a list or an object, itself included. */
function sizeOf(values: Iterable<ResolvedValue>): number {
  let size = 1
  for (const value of values) size += value.kind === 'scalar' ? 1 : value.size
  return size
}
