import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import type { NatsClient, NatsMessage, NatsRequestOptions, NatsStatus } from './client/nats-client.js'

/**
 * A connection, and whether it is up. When it breaks, the library neither repeats nor rejects its requests, and it drops those
 * that are made until it has connected again. Here they reject at once, or wait.
 */
export class Link {
  readonly client: NatsClient
  readonly #statuses: AsyncIterable<NatsStatus> & { stop?(): void }
  /** Aborted when the connection breaks. */
  #current = new AbortableCall()
  #isBack: Promise<void> = Promise.resolve()
  #back = (): void => {}

  constructor(client: NatsClient) {
    this.client = client
    this.#statuses = client.status()
    // The library knows its server only while it is connected.
    if (client.info === undefined && !client.isClosed()) this.#break()
    void this.#follow()
  }

  async request(
    subject: string,
    payload: string | Uint8Array,
    options: NatsRequestOptions,
    call: StoreCall,
  ): Promise<NatsMessage> {
    await untilAborted(this.#isBack, call)
    const current = this.#current
    return await untilAborted(untilAborted(this.client.request(subject, payload, options), call), current)
  }

  /** Calls the listener when the connection breaks. Returns a function that removes it. */
  onBreak(listener: () => void): () => void {
    return this.#current.onAbort(listener)
  }

  /** Ends the look at its status, but not the connection. */
  close(): void {
    this.#statuses.stop?.()
  }

  async #follow(): Promise<void> {
    for await (const { type } of this.#statuses) {
      // A link that began while the connection was down has missed the break.
      if (type === 'disconnect' || type === 'reconnecting') this.#break()
      if (type === 'reconnect') this.#join()
    }
    // The client says to each request that it is closed.
    this.#join()
  }

  #break(): void {
    this.#join()
    this.#isBack = new Promise((resolve) => (this.#back = resolve))
    this.#current.abort(new Error('the connection broke before the answer came'))
    this.#current = new AbortableCall()
  }

  #join(): void {
    this.#back()
  }
}
