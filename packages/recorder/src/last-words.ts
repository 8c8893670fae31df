import { machineTime } from '@leasehold/core/store-kit'

/** The memory for the text, in bytes: a longer one is not written. */
const SIZE = 65_536
const HEAD = 56
export const WORDS_AT = 24

/** The memory for the stack that blocks the event loop, behind the text. */
export const STACK_AT = SIZE
export const STACK_SIZE = 8_192

/**
 * The 32-bit words of the memory: the length of the text and the number of its lines; a number that changes when the event loop
 * turns; the state of the thread that asks for stacks; the length of a stack with the number for which it was written; and for how
 * many milliseconds that thread has seen that the event loop did not turn.
 */
export const WORD = { length: 0, lines: 1, turn: 2, state: 3, stackLength: 4, stackTurn: 5, watched: 6 } as const

export function wordsOf(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, WORDS_AT, 7)
}

/** What the thread of a self-fence writes before it ends the process: the main thread may hang then. */
export class LastWords {
  readonly memory = new SharedArrayBuffer(SIZE + STACK_SIZE)
  readonly #path: string
  readonly #look = new Float64Array(this.memory, 0, 3)
  readonly #words = wordsOf(this.memory)

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
    this.#words[WORD.length] = 0
    new Uint8Array(this.memory, HEAD).set(text)
    this.#words[WORD.lines] = lines.length
    this.#words[WORD.length] = text.length
  }
}
