import { machineTime } from '@leasehold/core/store-kit'

/** The memory for the text, in bytes: a longer one is not written. */
const SIZE = 65_536
const HEAD = 32

/** What the thread of a self-fence writes before it ends the process: the main thread may hang then. */
export class LastWords {
  readonly memory = new SharedArrayBuffer(SIZE)
  readonly #path: string
  readonly #look = new Float64Array(this.memory, 0, 3)
  readonly #sizes = new Int32Array(this.memory, 24, 2)

  constructor(path: string) {
    this.#path = path
  }

  /** The event loop turns: now, on the wall clock, with the processor time so far in milliseconds. */
  look(wall: number, cpu: number): void {
    this.#look[0] = wall
    this.#look[1] = cpu
    this.#look[2] = machineTime()
  }

  /** The recording to write, without the events: the thread adds its own line, and the last one. */
  note(recording: string): void {
    const lines = recording.trimEnd().split('\n').slice(0, -1)
    const text = new TextEncoder().encode([this.#path, ...lines].join('\n'))
    if (HEAD + text.length > SIZE) return
    this.#sizes[0] = 0
    new Uint8Array(this.memory, HEAD).set(text)
    this.#sizes[1] = lines.length
    this.#sizes[0] = text.length
  }
}
