import { Assembly } from './assembly.js'
import { ConfigLimitError, ConfigResolveError } from './config-error.js'
import { join } from './join.js'
import type { Limits } from './limits.js'
import { formatPath, isSamePath } from './path-expression.js'
import { isSecretPath } from './secrets.js'
import { enclosingPath, lookBackOf, type Scope, type Slot, type SlotEvent, type Unresolved } from './slot.js'
import {
  type Append,
  type Concatenation,
  type Document,
  type Expression,
  type Origin,
  type Reference,
  stringAt,
} from './syntax-tree.js'
import { type Fact, type Item, ListValue, ObjectView, type Resolution, type Value } from './value.js'

/** Environment variables: the fallback for substitutions without a value in the configuration. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The maximum average number of steps per value. Ordinary values take one or two steps. */
const STEPS_A_VALUE = 5

/**
 * Finds the values of substitutions. A substitution has the last value of its path. While an assignment is resolved, the
 * assignment itself and all later assignments to its key are hidden. A substitution that leads back to the key therefore
 * sees its earlier value, or no value. The same holds for substitutions in objects and lists within the assignment, if
 * the key had an earlier value.
 */
export class Resolver implements Resolution {
  readonly root: ObjectView
  cuts = 0
  epoch = 0
  readonly #assembly: Assembly
  readonly #limits: Limits
  readonly #env: Environment
  #depth = 0
  #steps = 0
  /** The number of assignments and elements being resolved, each because the one before it needs its value. */
  #nesting = 0
  /** Each assignment and each element is resolved once, however many substitutions refer to it. */
  readonly #resolved = new Map<Unresolved, Value | undefined>()
  readonly #provisional: Unresolved[] = []

  constructor(documents: readonly Document[], limits: Limits, env: Environment) {
    this.#assembly = new Assembly(limits)
    this.#limits = limits
    this.#env = env
    this.root = this.#viewOf(this.#assembly.root(documents), { source: '', line: 0, column: 0 })
  }

  cut(): undefined {
    this.cuts += 1
    return undefined
  }

  step(origin: Origin, count = 1): void {
    this.#steps += count
    const { maxValues } = this.#limits
    if (this.#steps > STEPS_A_VALUE * maxValues) {
      throw new ConfigLimitError(
        `the configuration takes more steps to resolve than maxValues (${maxValues}) allows`,
        origin,
      )
    }
  }

  *facts(slot: Slot, from: number, to: number): Generator<Fact, undefined> {
    this.step(this.root.origin)
    let end = to
    if (slot.pending < to) {
      end = slot.pending
      this.cut()
    }
    for (let place = slot.countBefore(end) - 1; place >= 0; place -= 1) {
      const event = slot.events[place]
      if (event === undefined || event.order < from) return
      if (event.kind === 'mark') {
        yield { value: { kind: 'slot', slot, from: event.order, to: end, origin: event.origin } }
      } else {
        if (event.refersToItself) this.#resolveEarlier(slot, place)
        const value = this.#resolve(event)
        if (value !== undefined) {
          yield { value, assignment: event }
          // The value already includes the earlier values.
          if (event.refersToItself) return
        }
      }
      end = event.order
    }
  }

  /** The value of an element. `undefined` for an optional substitution without a value, which is left out of the list. */
  item(item: Item): Value | undefined {
    return item.kind === 'unresolved' ? this.#resolve(item) : item
  }

  /** Leaves an assignment or an element without a value, to end a cycle at an optional substitution. */
  forgetValue(work: Unresolved): void {
    this.#resolved.set(work, undefined)
  }

  deeper<T>(origin: Origin, work: () => T): T {
    const { maxDepth } = this.#limits
    if (this.#depth >= maxDepth) {
      throw new ConfigLimitError(`values and substitutions are nested deeper than maxDepth (${maxDepth})`, origin)
    }
    this.#depth += 1
    try {
      return work()
    } finally {
      this.#depth -= 1
    }
  }

  /** Resolves a chain of assignments that each refer to the previous one, by iteration, because it can be long. */
  #resolveEarlier(slot: Slot, place: number): void {
    let first = place
    for (let event = slot.events[first - 1]; this.#isOpenLink(event); event = slot.events[first - 1]) first -= 1
    for (const event of slot.events.slice(first, place)) if (event.kind === 'assignment') this.#resolve(event)
  }

  #isOpenLink(event: SlotEvent | undefined): boolean {
    return event?.kind === 'assignment' && event.refersToItself && !this.#resolved.has(event)
  }

  /**
   * Resolves an assignment or an element once. A value that is missing only because of an open cycle is resolved again
   * after the cycle.
   */
  #resolve(work: Unresolved): Value | undefined {
    const { expression, scope } = work
    if (expression.kind === 'scalar') return this.#value(expression, scope)
    if (this.#resolved.has(work)) return this.#resolved.get(work)
    const { cuts } = this
    this.#nesting += 1
    try {
      const value = this.deeper(expression.origin, () => this.#look(scope, () => this.#value(expression, scope)))
      this.#resolved.set(work, value)
      if (value === undefined && this.cuts > cuts && this.#nesting > 1) this.#provisional.push(work)
      return value
    } finally {
      this.#nesting -= 1
      if (this.#nesting === 0) for (const again of this.#provisional.splice(0)) this.#resolved.delete(again)
    }
  }

  /** If the scope looks back, hides its assignment and all later assignments to the key during `work`. */
  #look<T>({ slot, order, looksBack }: Scope, work: () => T): T {
    const { pending } = slot
    if (!looksBack || order >= pending) return work()
    slot.pending = order
    this.epoch += 1
    try {
      return work()
    } finally {
      slot.pending = pending
      this.epoch += 1
    }
  }

  #value(expression: Expression, scope: Scope): Value | undefined {
    switch (expression.kind) {
      case 'scalar':
        return scope.secret ? asSecret(expression) : expression
      case 'reference':
        return this.#substitute(expression, scope)
      case 'concatenation':
        return this.#concatenate(expression, scope)
      case 'append':
        return this.#append(expression, scope)
      case 'list':
        return listOf(expression.items, expression.origin, scope)
      case 'object':
        return this.#viewOf(this.#assembly.literal(expression, scope), expression.origin)
    }
  }

  #viewOf(slot: Slot, origin: Origin): ObjectView {
    return new ObjectView(this, [{ kind: 'slot', slot, from: 0, to: Number.POSITIVE_INFINITY, origin }])
  }

  #concatenate({ parts, origin }: Concatenation, scope: Scope): Value | undefined {
    const values = parts.map((part) => (part.kind === 'space' ? part : this.#value(part, scope)))
    return join(values, origin, this.#limits)
  }

  #append({ element, origin }: Append, scope: Scope): Value | undefined {
    const { path, slot } = scope
    const before = path === undefined ? firstValue(this.facts(slot, 0, Number.POSITIVE_INFINITY)) : this.#find(path)
    // Within a list there is no path, so a substitution in the element cannot look back.
    const added = listOf([element], origin, scope)
    return join([before, added], origin, this.#limits)
  }

  /** Looks up the path relative to the including object, then from the root, then in the environment. */
  #substitute({ path, optional, origin }: Reference, scope: Scope): Value | undefined {
    const { cuts } = this
    const { prefix } = scope
    const included = prefix.length === 0 ? undefined : this.#findWithin(scope, [...prefix, ...path])
    const value = included ?? this.#findWithin(scope, path) ?? this.#fromEnvironment(path, origin)
    if (value !== undefined) return scope.secret || isSecretPath(path) ? asSecret(value) : value
    if (optional) return undefined
    const shown = `\${${formatPath(path)}}`
    throw new ConfigResolveError(
      this.cuts > cuts
        ? `${shown} is part of a cycle of substitutions and has no earlier value: remove one of the substitutions`
        : `${shown} has no value in the configuration or the environment: define it, or write \${?${formatPath(path)}} if it is optional`,
      origin,
    )
  }

  /**
   * Within a value that looks back, at any depth, a substitution sees the earlier value of that value's key: HOCON.md,
   * "Self-Referential Substitutions".
   */
  #findWithin(scope: Scope, path: readonly string[]): Value | undefined {
    const back = lookBackOf(scope, path)
    return this.#look(back, () => this.#findFrom(back, path))
  }

  /** Finds a path. A container of the assignment is returned with the key's earlier value, or hidden if there is none. */
  #findFrom(scope: Scope, path: readonly string[]): Value | undefined {
    const { looksBack } = scope
    const enclosing = enclosingPath(scope)
    const contains = (path.length < enclosing.length || !looksBack) && isSamePath(path, enclosing.slice(0, path.length))
    if (!contains) return this.#find(path)
    const before = scope.path === undefined || !looksBack ? undefined : this.#find(scope.path)
    if (before === undefined) return this.cut()
    return enclosing.slice(path.length).reduceRight<Value | undefined>((value, key, place) => {
      const container = this.#find(enclosing.slice(0, path.length + place))
      return value === undefined || container?.kind !== 'object' ? undefined : container.replacing(key, value)
    }, before)
  }

  #find(path: readonly string[]): Value | undefined {
    let value: Value = this.root
    for (const key of path) {
      if (value.kind !== 'object') return undefined
      const entry = value.get(key)
      if (entry === undefined) return undefined
      value = entry.value
    }
    return value
  }

  #fromEnvironment(path: readonly string[], origin: Origin): Value | undefined {
    const name = path.join('.')
    const value = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined
    return value === undefined ? undefined : stringAt(value, { ...origin, source: `environment variable ${name}` })
  }
}

/** Elements of a list have no path. */
function listOf(items: readonly Expression[], origin: Origin, scope: Scope): ListValue {
  const within: Scope = { ...scope, path: undefined, outer: scope }
  return new ListValue(
    items.map((expression) => ({ kind: 'unresolved', expression, scope: within })),
    origin,
  )
}

function firstValue(facts: Iterable<Fact>): Value | undefined {
  for (const { value } of facts) return value.kind === 'slot' ? undefined : value
  return undefined
}

/** Marks a scalar as secret. The scalars in a list or an object have a mark of their own. */
function asSecret(value: Value): Value {
  return value.kind === 'scalar' ? { ...value, secret: true } : value
}
