import type { Clock } from '@leasehold/core'
import { AbortableCall, MessageListeners, pause, untilAborted } from '@leasehold/core/store'
import { nanoid } from 'nanoid'
import type { ClientAdapter, Subscription } from './client/connection.js'
import { closedError } from './failure-of.js'

/** The pauses before a broken subscription is renewed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 10_000

/** How long an attempt to subscribe, or an answer to a ping, may take, in milliseconds. */
const PATIENCE = 4_000

/** A connection that has ended without a word is noticed by a ping, so many milliseconds after the last one. */
const PING_INTERVAL = 15_000

const ECHO = 'here'

/**
 * The notifications of the server to this store, over one channel and a connection of its own: `turn <grant id>` when it may
 * be that waiter's turn, and `free <name>` when the name may be free. Where there is no such connection, or it brings no
 * notification (behind a PgBouncer in transaction mode), waiters have to poll.
 */
export class Turns {
  readonly channel = `leasehold_${nanoid()}`
  readonly messages: MessageListeners
  readonly #operations: ClientAdapter
  readonly #adapter: Pick<ClientAdapter, 'listen'>
  readonly #clock: Clock
  /** Aborted by `close`. */
  readonly #closing = new AbortableCall()
  #isSubscribing = false
  #isHearing = false
  #failures = 0
  #onEcho = (): void => {}

  /** `operations`: other connections than that of the notifications, which `adapter` opens. */
  constructor(operations: ClientAdapter, adapter: Pick<ClientAdapter, 'listen'>, clock: Clock) {
    this.messages = new MessageListeners(clock)
    this.#operations = operations
    this.#adapter = adapter
    this.#clock = clock
  }

  /** Whether notifications come: otherwise waiters have to poll. */
  get isHearing(): boolean {
    return this.#isHearing
  }

  /** Opens the connection, unless it is open. Listeners are notified when that is done. */
  subscribe(): void {
    if (this.#isSubscribing || this.#adapter.listen === undefined) return
    this.#isSubscribing = true
    void this.#keepHearing()
  }

  close(): void {
    this.#closing.abort(closedError())
    this.messages.close()
  }

  /** Opens the connection again when it has ended, while there are waiters. Without one, the next waiter subscribes. */
  async #keepHearing(): Promise<void> {
    while (!this.#closing.aborted) {
      await this.#hear().catch(() => {})
      const longest = Math.min(FIRST_PAUSE * 2 ** Math.min(this.#failures, 16), LONGEST_PAUSE)
      this.#failures += 1
      await pause(this.#clock, longest * (0.5 + 0.5 * Math.random()), this.#closing).catch(() => {})
      if (this.messages.size === 0) break
    }
    this.#isSubscribing = false
  }

  /** Opens a connection. Rejects when it has ended, or could not be opened. */
  async #hear(): Promise<void> {
    const connection = new AbortableCall()
    const removeListener = this.#closing.onAbort(() => connection.abort(this.#closing.signal.reason))
    try {
      const subscription = await this.#inTime(this.#open(connection), connection)
      this.#isHearing = true
      this.#failures = 0
      // Messages sent between two subscriptions are lost.
      this.messages.notifyAll()
      for (;;) {
        await pause(this.#clock, PING_INTERVAL, connection)
        await this.#inTime(subscription.ping(), connection)
      }
    } finally {
      connection.abort()
      removeListener()
      if (this.#isHearing) {
        this.#isHearing = false
        // From now on they poll.
        this.messages.notifyAll()
      }
    }
  }

  /** The subscription is closed when the connection is aborted. */
  async #open(connection: AbortableCall): Promise<Subscription> {
    const echoed = new Promise<void>((resolve) => {
      this.#onEcho = resolve
    })
    const events = {
      onMessage: (message: string) => this.#onMessage(message),
      onGap: () => this.messages.notifyAll(),
      onEnd: () => connection.abort(new Error('the connection has ended')),
    }
    const subscription = await this.#adapter.listen?.(this.channel, events, connection)
    if (subscription === undefined) throw closedError()
    connection.onAbort(() => subscription.close())
    // A pooler between here and the server may forget the subscription.
    await untilAborted(this.#operations.run(`select pg_notify('${this.channel}', '${ECHO}')`, connection), connection)
    await untilAborted(echoed, connection)
    return subscription
  }

  /** Ends a connection over which no answer comes in time. */
  async #inTime<T>(answer: Promise<T>, connection: AbortableCall): Promise<T> {
    const silent = new Error('the server did not answer in time')
    const cancel = this.#clock.schedule(PATIENCE, () => connection.abort(silent))
    return await untilAborted(answer, connection).finally(cancel)
  }

  #onMessage(message: string): void {
    if (message === ECHO) this.#onEcho()
    else this.messages.notify(message)
  }
}
