import { changeLine, type LogFacts, parseLine, type RegisterReference, type SealLine } from './log-lines.js'

/** The kind of the values of registers, and how a change makes the next value. */
export interface RegisterKind<V, C> {
  /** The value after a change; may change `value` itself, but not the change, which other registers may share. */
  readonly apply: (value: V | undefined, change: C) => V
  /** The change that creates the value. */
  readonly whole: (value: V) => C
  /**
   * Called for each value when the log is rewritten: returns the facts of the new log if the value is left out,
   * `undefined` if it is kept. All values are kept unless given.
   */
  readonly retire?: (value: V, facts: LogFacts) => LogFacts | undefined
}

/** The beginning of a new log. */
export interface Extract {
  readonly lines: readonly string[]
  readonly facts: LogFacts
  /** The keys of the registers that were left out. */
  readonly retired: Set<string>
}

/** A change, and the registers for which it is in force. */
export interface Taken<C> {
  readonly id: string
  readonly keys: readonly string[]
  readonly change: C
}

interface Register<V> {
  readonly key: string
  /** Its place among the registers of the log. All readers count them in the order in which they are created. */
  readonly number: number
  /** The offset at which the last change in force of this register starts. */
  version: number
  value: V
}

/** The values of registers, computed from the lines of their log by a rule that all readers share. */
export class RegisterTable<V, C> {
  readonly #kind: RegisterKind<V, C>
  readonly #registers = new Map<string, Register<V>>()
  /** By their numbers. */
  readonly #numbered: Register<V>[] = []
  /** The offset of the last change that is in force. */
  #lastChange = -1
  #seal: SealLine | undefined

  constructor(kind: RegisterKind<V, C>) {
    this.#kind = kind
  }

  /** The end of the log, once it is in force. */
  get seal(): SealLine | undefined {
    return this.#seal
  }

  get(key: string): V | undefined {
    return this.#registers.get(key)?.value
  }

  keys(): Iterable<string> {
    return this.#registers.keys()
  }

  /** The shortest name of a register in this log. */
  referenceTo(key: string): RegisterReference {
    return this.#registers.get(key)?.number ?? key
  }

  /** Applies the next line, which starts at `start`; returns its change, if it has one. */
  take(line: string, start: number): Taken<C> | undefined {
    if (this.#seal !== undefined) return undefined
    const parsed = parseLine<C>(line)
    if (parsed?.seal !== undefined && this.#lastChange < parsed.seal.base) this.#seal = parsed.seal
    if (parsed?.change === undefined) return undefined
    const { id, base, registers, change } = parsed.change
    const keys: string[] = []
    for (const reference of registers) {
      const register = typeof reference === 'number' ? this.#numbered[reference] : this.#registers.get(reference)
      if (register === undefined ? typeof reference === 'number' : register.version >= base) continue
      const value = this.#kind.apply(register?.value, change)
      if (register === undefined) this.#create(String(reference), start, value)
      else {
        register.version = start
        register.value = value
      }
      keys.push(register?.key ?? String(reference))
    }
    if (keys.length > 0) this.#lastChange = start
    return { id, keys, change }
  }

  /** The beginning of a log with the current values; `facts` are those of the current log. */
  extract(facts: LogFacts): Extract {
    const lines: string[] = []
    const retired = new Set<string>()
    let next = facts
    for (const { key, value } of this.#numbered) {
      const without = this.#kind.retire?.(value, next)
      if (without === undefined) lines.push(...this.line(key))
      else retired.add(key)
      next = without ?? next
    }
    return { lines, facts: next, retired }
  }

  /** The line that creates the register with its current value; none if it does not exist. */
  line(key: string): readonly string[] {
    const register = this.#registers.get(key)
    if (register === undefined) return []
    return [changeLine({ id: '', base: 0, registers: [key], change: this.#kind.whole(register.value) })]
  }

  #create(key: string, version: number, value: V): void {
    const register = { key, number: this.#numbered.length, version, value }
    this.#numbered.push(register)
    this.#registers.set(key, register)
  }
}
