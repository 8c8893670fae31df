import { type ChangeLine, changeLine, type LogFacts, parseLine, type SealLine } from './log-lines.js'

/** The kind of the values of registers, and how a change makes the next value. */
export interface RegisterKind<V, C> {
  /** The value after a change; may change `value` itself. */
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

interface Register<V> {
  readonly version: string
  readonly value: V
}

/** The values of registers, computed from the lines of their log by a rule that all readers share. */
export class RegisterTable<V, C> {
  readonly #kind: RegisterKind<V, C>
  readonly #registers = new Map<string, Register<V>>()
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

  /** Empty if the register does not exist. */
  versionOf(key: string): string {
    return this.#registers.get(key)?.version ?? ''
  }

  /** Applies the next line, which starts at `start`; returns its change if that is in force. */
  take(line: string, start: number): ChangeLine<C> | undefined {
    if (this.#seal !== undefined) return undefined
    const parsed = parseLine<C>(line)
    if (parsed?.seal !== undefined && this.#lastChange < parsed.seal.base) this.#seal = parsed.seal
    const change = parsed?.change
    if (change === undefined || change.expects !== this.versionOf(change.key)) return undefined
    const value = this.#kind.apply(this.get(change.key), change.change)
    this.#registers.set(change.key, { version: change.id, value })
    this.#lastChange = start
    return change
  }

  /** The beginning of a log with the current values; `facts` are those of the current log. */
  extract(facts: LogFacts): Extract {
    const lines: string[] = []
    const retired = new Set<string>()
    let next = facts
    for (const [key, { value }] of this.#registers) {
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
    return [changeLine({ id: register.version, key, expects: '', change: this.#kind.whole(register.value) })]
  }
}
