/** Who does something: a node by its letter, or one of the others. */
export type Actor = 'A' | 'B' | 'C' | 'store' | 'resource' | 'you'

/** `good`: granted, recovered. `bad`: lost, refused. `warning`: in jeopardy. */
export type Tone = 'good' | 'bad' | 'warning' | 'plain'

export interface Entry {
  readonly id: number
  /** Milliseconds since the world began. */
  readonly at: number
  readonly actor: Actor
  readonly tone: Tone
  readonly text: string
}

/** Older entries are dropped. */
const MOST = 300

/** What has happened, in order. */
export class Journal {
  readonly #now: () => number
  readonly #entries: Entry[] = []
  #count = 0

  constructor(now: () => number) {
    this.#now = now
  }

  get entries(): readonly Entry[] {
    return this.#entries
  }

  note(actor: Actor, text: string, tone: Tone = 'plain'): void {
    this.#count += 1
    this.#entries.push({ id: this.#count, at: this.#now(), actor, tone, text })
    if (this.#entries.length > MOST) this.#entries.shift()
  }
}
