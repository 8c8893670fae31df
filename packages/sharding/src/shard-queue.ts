import type { Outgoing } from './outgoing.js'

/** The first pause before unconfirmed messages are repeated, in milliseconds. It doubles, up to the longest. */
const FIRST_REPEAT = 1_000
const LONGEST_REPEAT = 16_000

/**
 * The messages of this process for one shard, in their order. They are under way to one place at a time, so none overtakes
 * another: later ones wait until it is known what became of the earlier ones.
 */
export class ShardQueue {
  readonly shard: number
  /** The address that the session is at; `undefined`: not known, or in this process. */
  address: string | undefined
  /** The session of the shard that took the last messages, or is about to. */
  session: string | undefined
  /** How often the messages were sent on since the directory has changed. */
  hops = 0
  #waiting: Outgoing[] = []
  /** The messages in the batch under way. */
  #sending: readonly Outgoing[] = []
  /** Taken, and to be repeated until they are confirmed. */
  readonly #unconfirmed = new Set<Outgoing>()
  /** Whether the session ended while a batch was under way. */
  #hasLost = false
  #repeatAt = Number.POSITIVE_INFINITY
  #repeatPause = FIRST_REPEAT

  constructor(shard: number) {
    this.shard = shard
  }

  get isSending(): boolean {
    return this.#sending.length > 0
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0
  }

  get isEmpty(): boolean {
    return !this.hasWaiting && !this.isSending && this.#unconfirmed.size === 0
  }

  push(message: Outgoing): void {
    this.#waiting.push(message)
  }

  /** The next message that nobody has given up. */
  shift(): Outgoing | undefined {
    for (;;) {
      const next = this.#waiting.shift()
      if (next === undefined || !next.isSettled) return next
    }
  }

  /** Takes the next messages for a batch, `most` at most: only one while the session is not known. */
  beginSending(most: number): readonly Outgoing[] {
    const messages: Outgoing[] = []
    const limit = this.session === undefined ? Math.min(1, most) : most
    while (messages.length < limit) {
      const next = this.shift()
      if (next === undefined) break
      messages.push(next)
    }
    this.#sending = messages
    return messages
  }

  /** The batch has ended. The messages that are to be sent again come before all others. */
  endSending(again: readonly Outgoing[]): void {
    this.#sending = []
    this.#putFirst(again)
    if (this.#hasLost) this.leave()
  }

  /** The session has ended. Its unconfirmed messages come before those of a batch that is under way. */
  leave(): void {
    this.#hasLost = this.isSending
    if (!this.isSending) this.enter(undefined, undefined)
  }

  /** A message was taken, and has to be confirmed. */
  expectConfirmation(message: Outgoing, now: number): void {
    if (message.isSettled) return
    if (this.#unconfirmed.size === 0) this.#repeatAt = now + this.#repeatPause
    this.#unconfirmed.add(message)
  }

  confirm(message: Outgoing): void {
    if (this.#unconfirmed.delete(message)) this.#repeatPause = FIRST_REPEAT
  }

  /** Another session: what the one before has not confirmed is sent again, before all others. */
  enter(session: string | undefined, address: string | undefined): void {
    if (session !== this.session || session === undefined) this.repeat()
    this.session = session
    this.address = address
  }

  /** Puts the unconfirmed messages in front of all others. */
  repeat(): void {
    this.#putFirst(this.#unconfirmed)
    this.#unconfirmed.clear()
  }

  /** Repeats the unconfirmed messages if it is time. Returns whether it was. */
  repeatIfDue(now: number): boolean {
    if (this.#unconfirmed.size === 0 || now < this.#repeatAt || this.isSending) return false
    this.#repeatPause = Math.min(2 * this.#repeatPause, LONGEST_REPEAT)
    this.repeat()
    return true
  }

  /** Takes out the messages that are over, and those that were given up. The rest keep their order. */
  takeExpired(now: number): readonly Outgoing[] {
    const isOver = (message: Outgoing): boolean => message.isSettled || message.giveUpAt <= now
    const expired = [...this.#waiting, ...this.#unconfirmed].filter(isOver)
    if (expired.length === 0) return []
    this.#waiting = this.#waiting.filter((message) => !isOver(message))
    for (const message of expired) this.#unconfirmed.delete(message)
    return expired
  }

  /** Not by `unshift`: there may be more messages than a function can have arguments. */
  #putFirst(messages: Iterable<Outgoing>): void {
    this.#waiting = [...messages, ...this.#waiting]
  }

  isUnderWay(message: Outgoing): boolean {
    return this.#sending.includes(message)
  }

  /** All messages, those under way among them. */
  get all(): readonly Outgoing[] {
    return [...this.#unconfirmed, ...this.#sending, ...this.#waiting]
  }
}
