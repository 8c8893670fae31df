import { ConfigLimitError, ConfigResolveError } from './config-error.js'
import type { Limits } from './limits.js'
import type { ResolvedList, ResolvedObject, ResolvedValue } from './resolved-value.js'
import type { Resolver } from './resolver.js'
import type { Append } from './slot.js'
import type { Expression, Origin } from './syntax-tree.js'
import type { Item, ListValue, ObjectView, Value } from './value.js'

/** A value that contains itself; ends at the optional substitution that it leads through, if there is one. */
class Cycle extends Error {
  readonly origin: Origin

  constructor(origin: Origin) {
    super('a cycle')
    this.origin = origin
  }
}

/** Replaces every substitution, once. */
export class Evaluation {
  readonly #resolver: Resolver
  readonly #limits: Limits
  readonly #done = new Map<ListValue | ObjectView, ResolvedList | ResolvedObject>()
  readonly #running = new Set<ListValue | ObjectView>()

  constructor(resolver: Resolver, limits: Limits) {
    this.#resolver = resolver
    this.#limits = limits
  }

  /** The whole configuration; throws a `ConfigResolveError` where something has no value. */
  root(): ResolvedObject {
    try {
      return this.#object(this.#resolver.root)
    } catch (error) {
      if (!(error instanceof Cycle)) throw error
      throw new ConfigResolveError(
        'a cycle: this value contains itself, by the substitutions within it; expected a value that does not lead back here',
        error.origin,
      )
    }
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
        throw new ConfigLimitError(`more values than maxValues, ${this.#limits.maxValues}, allows`, origin)
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
    return { kind: 'list', items, origin: list.origin, secret: list.secret, size }
  }

  #item(item: Item, origin: Origin): ResolvedValue | undefined {
    const value = this.#resolver.item(item)
    if (value === undefined) return undefined
    try {
      return this.#value(value, item.source?.expression.origin ?? origin)
    } catch (error) {
      if (!(error instanceof Cycle) || !isOptional(item.source?.expression)) throw error
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
    return { kind: 'object', fields, origin: view.origin, secret: view.secret, size }
  }

  /** Where a value contains itself by an optional substitution, the key has the value that it had before. */
  #field(view: ObjectView, key: string): ResolvedValue | undefined {
    for (let entry = view.get(key); entry !== undefined; entry = view.get(key)) {
      const { value, assignment } = entry
      try {
        return this.#value(value, assignment?.origin ?? value.origin)
      } catch (error) {
        if (!(error instanceof Cycle) || !isOptional(assignment?.expression)) throw error
        if (assignment !== undefined) this.#resolver.forgetValue(assignment)
        view.forget(key)
      }
    }
    return undefined
  }
}

function isOptional(expression: Expression | Append | undefined): boolean {
  return expression?.kind === 'reference' && expression.optional
}

function sizeOf(value: ResolvedValue): number {
  return value.kind === 'scalar' ? 1 : value.size
}
