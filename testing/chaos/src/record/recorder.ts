import { openSync, writeSync } from 'node:fs'
import type { Notice } from '../history/history.js'
import type { Call, Operation } from '../history/operation.js'
import { machineTime } from './machine-time.js'
import { type RecordLine, toLine } from './record-line.js'

/** What is known of a call before it is made, with the outcome that it has if nothing more is ever known. */
export type BegunCall = { [K in Call['call']]: Omit<Extract<Call, { call: K }>, 'outcome'> }[Exclude<
  Call['call'],
  'check'
>]

type Outcome<C extends BegunCall> = Omit<Extract<Call, { call: C['call'] }>, keyof C>

/** Writes the calls of one process to its file at once, so that a process that is killed leaves all that it has begun. */
export class Recorder {
  readonly #file: number
  readonly #who: { readonly client: number; readonly life: number }
  #lastId = 0

  constructor(path: string, who: { readonly client: number; readonly life: number }) {
    this.#file = openSync(path, 'a')
    this.#who = who
  }

  /** Makes the call. `outcomeOf` is asked when it has settled; it never rejects, and an outcome may add to the call. */
  async call<C extends BegunCall>(begun: C, make: () => Promise<Outcome<C>>): Promise<Outcome<C>> {
    const id = this.#nextId()
    const from = machineTime()
    const line = { id, ...this.#who, ...begun, outcome: 'unknown', from, to: Number.POSITIVE_INFINITY }
    this.#write(line as unknown as Operation)
    const outcome = await make()
    this.#write({ ...line, ...outcome, to: machineTime() } as unknown as Operation)
    return outcome
  }

  /** A look that takes no time, which a kill cannot interrupt in a way that matters. */
  check<T extends Omit<Extract<Call, { call: 'check' }>, 'call'>>(look: () => T): T {
    const from = machineTime()
    const outcome = look()
    this.#write({ id: this.#nextId(), ...this.#who, call: 'check', ...outcome, from, to: machineTime() } as Operation)
    return outcome
  }

  notice(notice: Omit<Notice, 'client' | 'life' | 'at'>): void {
    this.#write({ ...notice, ...this.#who, at: machineTime() } as Notice)
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #write(line: RecordLine): void {
    writeSync(this.#file, toLine(line))
  }
}
