import type { Expression, Origin, Scalar } from './syntax-tree.js'

/** Where in the configuration an expression stands. */
export interface Scope {
  /** Of the key whose value it is; `undefined` in an object that is an element of a list. */
  readonly path: readonly string[] | undefined
  /** Of the key that it is, or is within. */
  readonly enclosing: readonly string[]
  /** Of the object that the text was included into: its substitutions are looked up there first. */
  readonly prefix: readonly string[]
  readonly slot: Slot
  readonly order: number
  /** Whether substitutions in it see what the key was before: not in a plain list, nor in a plain object. */
  readonly looksBack: boolean
  /** Of the value that contains it, where it is an element of a list or within an object that is part of a value. */
  readonly outer: Scope | undefined
}

/** Whether the key had an earlier value, or a part of one, when the assignment was made. */
export function hasEarlierValue({ slot, order }: Scope): boolean {
  return (slot.events[0]?.order ?? order) < order
}

/** From here on, the key has an object, or what is below it was assigned. */
interface ObjectMark {
  readonly kind: 'mark'
  readonly order: number
  readonly origin: Origin
}

/** One assignment of a string, a number, a boolean or null. */
export interface ScalarAssignment {
  readonly kind: 'scalar'
  readonly order: number
  readonly value: Scalar
}

/** One assignment of anything else but a plain object. */
export interface Assignment {
  readonly kind: 'assignment'
  readonly order: number
  readonly expression: Expression | Append
  readonly scope: Scope
  readonly origin: Origin
  /** Whether it refers to the key itself by its own path. */
  readonly refersToItself: boolean
}

/** `key += element`. */
export interface Append {
  readonly kind: 'append'
  readonly element: Expression
  readonly origin: Origin
}

const NOTHING: SlotEvent[] = []
const NONE: ReadonlyMap<string, Slot> = new Map()

/** Something that was done to a key. */
export type SlotEvent = ObjectMark | ScalarAssignment | Assignment

/** All that was assigned to one key of one object, in the order in which it was. */
export class Slot {
  #events: SlotEvent[] = NOTHING
  #children: Map<string, Slot> | undefined
  /** The order of the assignment that is being resolved: who asks for the key meanwhile, sees what was before it. */
  pending = Number.POSITIVE_INFINITY

  get events(): readonly SlotEvent[] {
    return this.#events
  }

  get isPending(): boolean {
    return this.pending < Number.POSITIVE_INFINITY
  }

  child(key: string): Slot {
    this.#children ??= new Map()
    const known = this.#children.get(key)
    if (known !== undefined) return known
    const child = new Slot()
    this.#children.set(key, child)
    return child
  }

  /** The slots below, most of which have none. */
  get children(): ReadonlyMap<string, Slot> {
    return this.#children ?? NONE
  }

  /** Marks an object; `since` is the order of the mark that the parent counts it under. Returns that of the mark. */
  mark(order: number, since: number, origin: Origin): number {
    const last = this.events.at(-1)
    if (last?.kind === 'mark' && last.order >= since) return last.order
    this.#add({ kind: 'mark', order, origin })
    return order
  }

  /** Adds an assignment; one that is neither a substitution nor has any hides all before it for good. */
  assign(assignment: ScalarAssignment | Assignment, since: number): void {
    const hides = assignment.kind === 'scalar' || assignment.expression.kind === 'list-literal'
    if (hides && (this.events[0]?.order ?? since) >= since) {
      this.#events = NOTHING
      this.#children = undefined
    }
    this.#add(assignment)
  }

  /** Most slots have one event: an array of just that is a tenth of one that was pushed to. */
  #add(event: SlotEvent): void {
    if (this.#events.length === 0) this.#events = [event]
    else this.#events.push(event)
  }

  /** How many events come before an order. */
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

  /** Whether there is an event from one order on and before another. */
  hasEventIn(from: number, to: number): boolean {
    const count = this.countBefore(to)
    return count > 0 && (this.events[count - 1]?.order ?? -1) >= from
  }
}
