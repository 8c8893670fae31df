import type { Clock } from '@leasehold/core'
import type { AbortableCall } from '@leasehold/core/store'
import { closedError, MessageListeners, pause, Subscription, untilAborted } from '@leasehold/core/store-kit'
import { nanoid } from 'nanoid'
import type { ClientAdapter, Notifications } from './client/connection.js'

/** The pauses before a broken subscription is renewed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 10_000

/** How long an attempt to subscribe, or an answer to a ping, may take, in milliseconds. */
const PATIENCE = 4_000

/** The time between two pings, in milliseconds. A ping notices a connection that has ended without a word. */
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
  readonly #subscription: Subscription
  #onEcho = (): void => {}

  /** `operations`: other connections than that of the notifications, which `adapter` opens. */
  constructor(operations: ClientAdapter, adapter: Pick<ClientAdapter, 'listen'>, clock: Clock, random: () => number) {
    this.messages = new MessageListeners(clock)
    this.#operations = operations
    this.#adapter = adapter
    this.#clock = clock
    const open = (call: AbortableCall) => this.#open(call)
    const pauses = { firstPause: FIRST_PAUSE, longestPause: LONGEST_PAUSE }
    this.#subscription = new Subscription({ open, timeout: PATIENCE, ...pauses }, this.messages, clock, random)
  }

  /** Whether notifications come: otherwise waiters have to poll. */
  get isHearing(): boolean {
    return this.#subscription.isOpen
  }

  /** Opens the connection, unless it is open. Listeners are notified when that is done. */
  subscribe(): void {
    if (this.#adapter.listen !== undefined) this.#subscription.openSoon()
  }

  close(): void {
    this.#subscription.close(closedError('postgres'))
    this.messages.close()
  }

  async #open(call: AbortableCall): Promise<void> {
    const echoed = new Promise<void>((resolve) => {
      this.#onEcho = resolve
    })
    const events = {
      onMessage: (message: string) => this.#onMessage(message),
      onGap: () => this.messages.notifyAll(),
      onEnd: () => call.abort(new Error('the connection has ended')),
    }
    const notifications = await this.#adapter.listen?.(this.channel, events, call)
    if (notifications === undefined) throw closedError('postgres')
    call.onAbort(() => notifications.close())
    // A pooler between here and the server may forget the subscription.
    await untilAborted(this.#operations.run(`select pg_notify('${this.channel}', '${ECHO}')`, call), call)
    await untilAborted(echoed, call)
    // Without notifications, listeners have to poll.
    call.onAbort(() => this.messages.notifyAll())
    this.#keepPinging(notifications, call).catch((error: unknown) => call.abort(error))
  }

  /** Ends a connection over which no answer comes in time. */
  async #keepPinging(notifications: Notifications, call: AbortableCall): Promise<void> {
    const silent = new Error('the server did not answer in time')
    for (;;) {
      await pause(this.#clock, PING_INTERVAL, call)
      const cancel = this.#clock.schedule(PATIENCE, () => call.abort(silent))
      await untilAborted(notifications.ping(), call).finally(cancel)
    }
  }

  #onMessage(message: string): void {
    if (message === ECHO) this.#onEcho()
    else this.messages.notify(message)
  }
}
