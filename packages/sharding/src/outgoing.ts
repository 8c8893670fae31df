import type { AnswerOutcome, Json } from './message.js'

export interface OutgoingOptions {
  readonly shard: number
  readonly entity: string
  readonly event: { readonly [key: string]: Json | undefined }
  /** Present where it is delivered at least once. */
  readonly id?: string | undefined
  /** The number under which the answer is expected. */
  readonly question?: number | undefined
  readonly wantsReply?: boolean | undefined
  /** When it is given up, on the clock of the region. */
  readonly giveUpAt: number
  /** Gets the outcome, once. */
  readonly onSettled: (outcome: AnswerOutcome) => void
}

/** An event on its way to its entity. */
export class Outgoing {
  readonly shard: number
  readonly entity: string
  readonly event: { readonly [key: string]: Json | undefined }
  readonly id: string | undefined
  readonly question: number | undefined
  readonly wantsReply: boolean
  readonly giveUpAt: number
  /** Whether the entity may have it, or may have had it. */
  mayBeTaken = false
  /** Whether it has its place among the messages that the region keeps. */
  isKept = false
  readonly #onSettled: (outcome: AnswerOutcome) => void
  #isSettled = false

  constructor(options: OutgoingOptions) {
    this.shard = options.shard
    this.entity = options.entity
    this.event = options.event
    this.id = options.id
    this.question = options.question
    this.wantsReply = options.wantsReply ?? false
    this.giveUpAt = options.giveUpAt
    this.#onSettled = options.onSettled
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  settle(outcome: AnswerOutcome): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#onSettled(outcome)
  }

  /** Gives it up with what is certain. */
  giveUp(reason: string): void {
    this.settle({ type: this.mayBeTaken ? 'unknown' : 'not-delivered', reason })
  }
}
