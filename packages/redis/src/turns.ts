import { AbortListeners, type Clock, LeaseUnavailableError } from '@leasehold/core'
import type { Connection } from './client/connection.js'
import { closedError, type Link, PATIENCE } from './client/link.js'

/** The pauses before a subscription that broke is renewed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

/** How long an attempt to subscribe may take, in milliseconds: a connection may be dead without a word. */
const LONGEST_ATTEMPT = 5_000

/** Timers may be early by a part of a millisecond. */
const AFTER_EXPIRY = 2

/** A poll is echoed over the channel: where nothing comes within this, in milliseconds, the subscription is dead. */
const LATEST_ECHO = 2_000
const ECHO = 'here'

/** How many turns are remembered that came before somebody listened for them. */
const EARLY_TURNS = 1_000

/** One who listens for a word of the server. */
interface Listener {
  ring(): void
}

/**
 * What the server tells this store over one channel: `turn <grant id>`, that it may be that waiter's turn, and
 * `free <key>`. A word that may have been missed, for the subscription broke, counts as said to all.
 */
export class Turns {
  readonly channel: string
  readonly #link: Link
  readonly #clock: Clock
  readonly #aborts = new AbortListeners()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #early = new Set<string>()
  readonly #expiries = new Map<string, () => void>()
  readonly #closed = new AbortController()
  #subscribing: Promise<void> | undefined
  #connection: Connection | undefined
  #openedAt = Number.NEGATIVE_INFINITY
  #heardAt = Number.NEGATIVE_INFINITY
  #cancelEcho: (() => void) | undefined
  #failures = 0
  #cancelRetry: (() => void) | undefined

  constructor(link: Link, clock: Clock, channel: string) {
    this.#link = link
    this.#clock = clock
    this.channel = channel
  }

  get isSubscribed(): boolean {
    return this.#connection !== undefined
  }

  /** One who waits has asked again, so that the server has sent an echo after that instant. */
  expectEcho(since: number): void {
    const connection = this.#connection
    if (connection === undefined || this.#cancelEcho !== undefined) return
    this.#cancelEcho = this.#clock.schedule(LATEST_ECHO, () => {
      this.#cancelEcho = undefined
      if (this.#heardAt < since && this.#connection === connection) this.#link.drop(connection)
    })
  }

  /** Resolves when words of the server reach this store; rejects with the signal's reason, or with why they cannot. */
  async subscribed(signal: AbortSignal): Promise<void> {
    if (this.isSubscribed) return
    let unlisten = (): void => {}
    const late = new Promise<never>((_, reject) => {
      unlisten = this.#aborts.add(signal, () => {
        this.#giveUpIfSlow()
        reject(signal.reason)
      })
    })
    try {
      await Promise.race([this.#subscribe(), late])
    } finally {
      unlisten()
    }
  }

  /** Nobody tells of an expiry: the first in line, who was refused, looks again when the lease can have expired. */
  expectExpiry(grantId: string, remaining: number): void {
    this.forgetExpiry(grantId)
    if (remaining === Number.POSITIVE_INFINITY) return
    this.#expiries.set(
      grantId,
      this.#clock.schedule(remaining + AFTER_EXPIRY, () => {
        this.#expiries.delete(grantId)
        this.ring(`turn ${grantId}`)
      }),
    )
  }

  forgetExpiry(grantId: string): void {
    this.#expiries.get(grantId)?.()
    this.#expiries.delete(grantId)
  }

  /** Yields whenever the word is said, until the signal aborts or the store is closed. */
  async *listen(word: string, signal: AbortSignal): AsyncGenerator<undefined> {
    const bell = new Bell()
    const unlisten = [
      this.#aborts.add(signal, () => bell.ring()),
      this.#aborts.add(this.#closed.signal, () => bell.ring()),
    ]
    this.#addListener(word, bell)
    try {
      while (true) {
        await bell.rung()
        if (signal.aborted || this.#closed.signal.aborted) return
        yield undefined
      }
    } finally {
      this.#removeListener(word, bell)
      for (const stop of unlisten) stop()
    }
  }

  close(): void {
    this.#closed.abort(closedError())
    this.#cancelRetry?.()
    this.#cancelEcho?.()
    for (const cancel of this.#expiries.values()) cancel()
    this.#expiries.clear()
    this.#link.close()
  }

  #subscribe(): Promise<void> {
    this.#subscribing ??= this.#open().finally(() => {
      this.#subscribing = undefined
    })
    return this.#subscribing
  }

  /** A connection on which nothing comes back is not worth to be waited for, by the next who asks either. */
  #giveUpIfSlow(): void {
    if (this.#clock.now() - this.#openedAt < PATIENCE) return
    this.#link.giveUpOpening()
    if (this.#link.current !== undefined) this.#link.drop(this.#link.current)
  }

  async #open(): Promise<void> {
    this.#openedAt = this.#clock.now()
    let giveUp = (): void => {}
    const late = new Promise<never>((_, reject) => {
      giveUp = () => {
        this.#link.giveUpOpening()
        reject(new LeaseUnavailableError('it took too long to subscribe', { store: 'redis' }))
      }
    })
    const cancel = this.#clock.schedule(LONGEST_ATTEMPT, giveUp)
    let connection: Connection | undefined
    try {
      connection = await Promise.race([this.#link.connect(), late])
      const subscribed = connection.subscribe(this.channel, (word) => this.#hear(word))
      await Promise.race([subscribed, endOf(connection), late])
    } catch (error) {
      if (connection !== undefined) this.#link.drop(connection)
      throw error
    } finally {
      cancel()
    }
    this.#begin(connection)
  }

  #begin(connection: Connection): void {
    this.#connection = connection
    this.#failures = 0
    connection.onEnd(() => this.#onEnd(connection))
    // Between two subscriptions nobody was told of anything.
    this.#ringAll()
  }

  #onEnd(connection: Connection): void {
    this.#connection = undefined
    this.#link.drop(connection)
    this.#retryLater()
  }

  #retryLater(): void {
    if (this.#closed.signal.aborted || this.#listeners.size === 0) return
    const pause = Math.min(FIRST_PAUSE * 2 ** Math.min(this.#failures, 16), LONGEST_PAUSE)
    this.#failures += 1
    this.#cancelRetry?.()
    this.#cancelRetry = this.#clock.schedule(pause * (0.5 + 0.5 * Math.random()), () => {
      if (this.isSubscribed) return
      this.#subscribe().catch(() => this.#retryLater())
    })
  }

  #hear(word: string): void {
    this.#heardAt = this.#clock.now()
    if (word !== ECHO) this.ring(word)
  }

  /** Says a word to those who listen for it, or to the next who does. */
  ring(word: string): void {
    const listeners = this.#listeners.get(word)
    if (listeners !== undefined) {
      for (const listener of listeners) listener.ring()
      return
    }
    this.#early.add(word)
    if (this.#early.size <= EARLY_TURNS) return
    for (const oldest of this.#early) {
      this.#early.delete(oldest)
      return
    }
  }

  #ringAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener.ring()
  }

  #addListener(word: string, listener: Listener): void {
    const listeners = this.#listeners.get(word)
    if (listeners === undefined) this.#listeners.set(word, new Set([listener]))
    else listeners.add(listener)
    if (this.#early.delete(word)) listener.ring()
  }

  #removeListener(word: string, listener: Listener): void {
    const listeners = this.#listeners.get(word)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(word)
  }
}

function endOf(connection: Connection): Promise<never> {
  return new Promise((_, reject) => {
    connection.onEnd(() => reject(new LeaseUnavailableError('the connection has ended', { store: 'redis' })))
  })
}

/** Rung once or often before it is heard, it is heard once. */
class Bell implements Listener {
  #isRung = false
  #hear: (() => void) | undefined

  ring(): void {
    this.#isRung = true
    this.#hear?.()
  }

  async rung(): Promise<void> {
    if (!this.#isRung) await new Promise<void>((resolve) => (this.#hear = resolve))
    this.#isRung = false
    this.#hear = undefined
  }
}
