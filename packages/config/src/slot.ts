import { isSamePath } from './path-expression.js'
import type { Expression, Origin } from './syntax-tree.js'

/** The position of an expression in the configuration. */
export interface Scope {
  /** The path of the key that the expression is assigned to. `undefined` within an element of a list. */
  readonly path: readonly string[] | undefined
  /** The path of the object that includes the text. Substitutions are looked up there first. */
  readonly prefix: readonly string[]
  /** Whether a key that contains the expression is secret. */
  readonly secret: boolean
  readonly slot: Slot
  readonly order: number
  /** Whether substitutions in the expression see the key's earlier value. False for list and object literals. */
  readonly looksBack: boolean
  /** The scope of the containing value, for an expression within a list or within an object of a concatenation. */
  readonly outer: Scope | undefined
}

/**
 * The outermost scope whose key has an earlier value. For a substitution that refers to the key of an inner scope, or to
 * a path below that key, the inner scope is returned if its key has an earlier value.
 */
export function lookBackOf(scope: Scope, path: readonly string[]): Scope {
  let found = scope
  for (let within: Scope | undefined = scope; within !== undefined; within = within.outer) {
    if (!within.looksBack || within.slot.countBefore(within.order) === 0) continue
    found = within
    const key = within.path
    if (key !== undefined && isSamePath(key, path.slice(0, key.length))) return found
  }
  return found
}

/** The path of the nearest key that contains the expression. */
export function enclosingPath({ path, outer }: Scope): readonly string[] {
  return path ?? (outer === undefined ? [] : enclosingPath(outer))
}

/** Records that an object, or a value below the key, was assigned. */
interface ObjectMark {
  readonly kind: 'mark'
  readonly order: number
  readonly origin: Origin
}

/** An expression and its position. */
export interface Unresolved {
  readonly expression: Expression
  readonly scope: Scope
}

/** An assignment of any value except an object literal. */
export interface Assignment extends Unresolved {
  readonly kind: 'assignment'
  readonly order: number
  /** Whether the expression refers to the path of its own key. */
  readonly refersToItself: boolean
}

/** An entry in the history of a key. */
export type SlotEvent = ObjectMark | Assignment

/** The history of one key of one object: all assignments in order. */
export class Slot {
  events: SlotEvent[] = []
  /** The slots of the keys below. Most slots have none, and a map takes more memory than the rest of a slot. */
  children: Map<string, Slot> | undefined
  /** The order of the assignment being resolved. Until it is resolved, reads of the key see only earlier events. */
  pending = Number.POSITIVE_INFINITY

  child(key: string): Slot {
    this.children ??= new Map()
    const known = this.children.get(key)
    if (known !== undefined) return known
    const child = new Slot()
    this.children.set(key, child)
    return child
  }

  /** Adds an object mark, unless one exists since the parent's mark (`since`). Returns the order of the mark. */
  mark(order: number, since: number, origin: Origin): number {
    const last = this.events.at(-1)
    if (last?.kind === 'mark' && last.order >= since) return last.order
    this.#add({ kind: 'mark', order, origin })
    return order
  }

  /** Adds an assignment. A value without substitutions replaces the whole history, which is then dropped. */
  assign(assignment: Assignment, since: number): void {
    const { kind } = assignment.expression
    const hides = kind === 'scalar' || kind === 'list'
    if (hides && (this.events[0]?.order ?? since) >= since) {
      this.events = []
      this.children = undefined
    }
    this.#add(assignment)
  }

  /** Most slots have one event. `push` would reserve space for sixteen more. */
  #add(event: SlotEvent): void {
    if (this.events.length === 0) this.events = [event]
    else this.events.push(event)
  }

  /** The number of events before an order. */
  countBefore(order: number): number {
    if ((this.events.at(-1)?.order ?? -1) < order) return this.events.length
    let low = 0
    let high = this.events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.events[middle]?.order ?? 0) < order) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether there is an event in the range from `from` (inclusive) to `to` (exclusive). */
  hasEventIn(from: number, to: number): boolean {
    return this.countBefore(to) > this.countBefore(from)
  }
}
