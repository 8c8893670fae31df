import type { Read, Write } from '../history/operation.js'
import type { Recorder } from '../record/recorder.js'
import type { GuardedRegister } from '../systems/system.js'

/** Reads the guarded register of a name and writes the next number to it, as holders do. */
export class RegisterWriter {
  readonly #name: string
  readonly #register: GuardedRegister
  readonly #recorder: Recorder
  /** Begins all values of this process. */
  readonly #mark: string
  #written = 0

  constructor(name: string, register: GuardedRegister, recorder: Recorder, mark: string) {
    this.#name = name
    this.#register = register
    this.#recorder = recorder
    this.#mark = mark
  }

  /** `mayWrite`: asked between the read and the write. */
  async writeNext(token: bigint, mayWrite: () => boolean): Promise<void> {
    const last = await this.#read()
    if (last === undefined || !mayWrite()) return
    const count = last + 1
    this.#written += 1
    const value = `${count}/${this.#mark}.${this.#written}`
    await this.#recorder.call(
      { call: 'write', name: this.#name, token, value, count },
      async (): Promise<{
        outcome: Write['outcome']
      }> => {
        try {
          return { outcome: await this.#register.write(value, token) }
        } catch {
          return { outcome: 'unknown' }
        }
      },
    )
  }

  /** The number of the last write; 0 before the first; `undefined` if it cannot be known. */
  async #read(): Promise<number | undefined> {
    const { outcome, count = 0 } = await this.#recorder.call(
      { call: 'read', name: this.#name },
      async (): Promise<{
        outcome: Read['outcome']
        value?: string
        count?: number
      }> => {
        try {
          const value = await this.#register.read()
          return value === undefined
            ? { outcome: 'read' }
            : { outcome: 'read', value, count: Number(value.split('/')[0]) }
        } catch {
          return { outcome: 'unknown' }
        }
      },
    )
    return outcome === 'read' ? count : undefined
  }
}
