import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import type { LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { afterAll, beforeAll } from 'vitest'
import { callStore, describeStore } from '../../src/hosted-store.js'
import { toPortable } from '../../src/portable-error.js'
import type { RelayOptions, RelayReply, RelayRequest } from './relayed-calls.js'
import { fromSource } from './thread-options.js'

const relayModule = `${new URL('relay-lease.ts', import.meta.url).pathname}#relayLease`

/** Opens a store of this thread in a heartbeat thread: its calls come back to it. */
export type OpenRelayed = (store: LeaseStore) => Promise<LeaseStore>

/** Starts a heartbeat thread before the tests of a file, and ends it after them. */
export function relayedStores(): OpenRelayed {
  let thread: HeartbeatThread
  let relays: Relays
  beforeAll(() => {
    thread = new HeartbeatThread(fromSource)
    relays = new Relays()
  })
  afterAll(async () => {
    await thread.close()
    relays.close()
  })
  return (store) => relays.open(thread, store)
}

/** Stores of this thread, for the engines in a heartbeat thread. */
class Relays {
  readonly #name = randomUUID()
  readonly #channel = new BroadcastChannel(this.#name)
  readonly #stores = new Map<string, LeaseStore>()
  readonly #calls = new Map<string, AbortableCall>()
  #isClosed = false

  constructor() {
    this.#channel.onmessage = (event) => void this.#receive((event as { data: RelayRequest }).data)
  }

  /** Opens the store in the thread: its calls come back to the one that is given. */
  async open(thread: HeartbeatThread, given: LeaseStore): Promise<LeaseStore> {
    const store = randomUUID()
    this.#stores.set(store, given)
    given.closed?.addEventListener('abort', () => this.#post({ type: 'closed', store }))
    const options: RelayOptions = { channel: this.#name, store, opened: describeStore(given) }
    return await thread.open({ leaseClass: relayModule, options: { ...options } })
  }

  close(): void {
    this.#isClosed = true
    this.#channel.close()
  }

  async #receive(request: RelayRequest): Promise<void> {
    if (request.type === 'abort') return this.#calls.get(request.id)?.abort()
    const store = this.#stores.get(request.store)
    if (store === undefined) return
    const { id, method, args, timeout } = request
    const call = new AbortableCall(timeout)
    this.#calls.set(id, call)
    try {
      const value = await callStore(store, method, args, call, (item) => this.#post({ type: 'item', id, value: item }))
      this.#post({ type: 'answer', id, value })
    } catch (error) {
      this.#post({ type: 'error', id, error: toPortable(error) })
    } finally {
      this.#calls.delete(id)
    }
  }

  #post(reply: RelayReply): void {
    if (!this.#isClosed) this.#channel.postMessage(reply)
  }
}
