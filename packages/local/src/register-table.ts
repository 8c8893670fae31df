import { type ChangeLine, changeLine, type LogFacts, parseLine, type SealLine } from './log-lines.js'

/** The kind of value that registers have, and how a change makes the next one. */
export interface RegisterKind<V, C> {
  /** The value after a change; may change `value` itself. */
  readonly apply: (value: V | undefined, change: C) => V
  /** The change that makes a value of nothing. */
  readonly whole: (value: V) => C
  /**
   * Asked of each value when the log is written anew: the facts of the new log if it leaves the value out, `undefined` if
   * the value is kept. Registers are kept unless given.
   */
  readonly retire?: (value: V, facts: LogFacts) => LogFacts | undefined
}

/** The beginning of a new log. */
export interface Extract {
  readonly lines: readonly string[]
  readonly facts: LogFacts
  /** The keys of the registers that are left out. */
  readonly retired: Set<string>
}

interface Register<V> {
  version: string
  value: V
}

/** The values of registers, worked out from the lines of their log by a rule on which all readers agree. */
export class RegisterTable<V, C> {
  readonly #kind: RegisterKind<V, C>
  readonly #registers = new Map<string, Register<V>>()
  /** Where the last change that is in force starts. */
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

  /** Takes in the next line, which starts at `start`; returns the change that it brings into force. */
  take(line: string, start: number): ChangeLine<C> | undefined {
    if (this.#seal !== undefined) return undefined
    const parsed = parseLine<C>(line)
    if (parsed?.seal !== undefined && this.#lastChange < parsed.seal.base) this.#seal = parsed.seal
    const change = parsed?.change
    if (change === undefined || change.expects !== this.versionOf(change.key)) return undefined
    this.#change(change)
    this.#lastChange = start
    return change
  }

  /** The beginning of a log that goes on with the values as they are; `facts` are those of the present one. */
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

  /** The line that makes a register as it is, in a log that does not have it; none where it does not exist. */
  line(key: string): readonly string[] {
    const register = this.#registers.get(key)
    if (register === undefined) return []
    return [changeLine({ id: register.version, key, expects: '', change: this.#kind.whole(register.value) })]
  }

  #change({ id, key, change }: ChangeLine<C>): void {
    const register = this.#registers.get(key)
    const value = this.#kind.apply(register?.value, change)
    if (register === undefined) this.#registers.set(key, { version: id, value })
    else {
      register.version = id
      register.value = value
    }
  }
}
