import { ConfigLimitError, ConfigResolveError } from './config-error.js'
import type { Limits } from './limits.js'
import type { ResolvedList, ResolvedObject, ResolvedValue } from './resolved-value.js'
import type { Resolver } from './resolver.js'
import type { Expression, Origin } from './syntax-tree.js'
import type { Item, ListValue, ObjectView, Value } from './value.js'

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

  #list(list: ListValue): ResolvedList {
    const items: ResolvedValue[] = []
    let size = 1
    for (const item of list.items) {
      const resolved = this.#item(item, list.origin)
      if (resolved === undefined) continue
      items.push(resolved)
      size += sizeOf(resolved)
    }
    return { kind: 'list', items, origin: list.origin, size }
  }

  #item(item: Item, origin: Origin): ResolvedValue | undefined {
    const value = this.#resolver.item(item)
    if (value === undefined) return undefined
    try {
      return this.#value(value, item.kind === 'unresolved' ? item.expression.origin : origin)
    } catch (error) {
      if (!(error instanceof Cycle) || item.kind !== 'unresolved' || !isOptional(item.expression)) throw error
      this.#resolver.forgetValue(item)
      return undefined
    }
  }

  #object(view: ObjectView): ResolvedObject {
    const fields = new Map<string, ResolvedValue>()
    let size = 1
    for (const key of view.keys()) {
      const resolved = this.#field(view, key)
      if (resolved === undefined) continue
      fields.set(key, resolved)
      size += sizeOf(resolved)
    }
    return { kind: 'object', fields, origin: view.origin, size }
  }

  /** If a value contains itself through an optional substitution, the key keeps its earlier value. */
  #field(view: ObjectView, key: string): ResolvedValue | undefined {
    for (let entry = view.get(key); entry !== undefined; entry = view.get(key)) {
      const { value, assignment } = entry
      try {
        return this.#value(value, assignment?.expression.origin ?? value.origin)
      } catch (error) {
        if (!(error instanceof Cycle) || assignment === undefined || !isOptional(assignment.expression)) throw error
        this.#resolver.forgetValue(assignment)
        view.forget(key)
      }
    }
    return undefined
  }
}

function isOptional(expression: Expression): boolean {
  return expression.kind === 'reference' && expression.optional
}

function sizeOf(value: ResolvedValue): number {
  return value.kind === 'scalar' ? 1 : value.size
}
