import type { AnswerOutcome } from './message.js'
import type { Outgoing } from './outgoing.js'

/** The events of this process that wait for an answer, by their numbers. */
export class Questions {
  readonly #open = new Map<number, Outgoing>()
  #last: number

  /** `first`: differs from run to run, so that a late answer for the process before settles nothing. */
  constructor(first: number) {
    this.#last = first
  }

  get size(): number {
    return this.#open.size
  }

  nextNumber(): number {
    this.#last += 1
    return this.#last
  }

  add(message: Outgoing): void {
    if (message.question !== undefined) this.#open.set(message.question, message)
  }

  get(question: number): Outgoing | undefined {
    return this.#open.get(question)
  }

  /** The message is settled. */
  delete({ question }: Outgoing): void {
    if (question !== undefined) this.#open.delete(question)
  }

  /** Gives all of them up. */
  giveUp(reason: string): void {
    for (const message of [...this.#open.values()]) message.giveUp(reason)
    this.#open.clear()
  }
}

/** Whether an answer allows to send the event again: its session has ended. */
export function endedSession(outcome: AnswerOutcome): string | undefined {
  return outcome.type === 'answered' ? undefined : outcome.again
}
