import { type LeaseStore, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { SharedTime, settledInTime } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { callStore, describeStore, openStore } from './hosted-store.js'
import { Keeper } from './keeper.js'
import { KeptSlots } from './kept-slots.js'
import { Outbox } from './outbox.js'
import { toPortable } from './portable-error.js'
import { type Reply, type Request, STOP_TIMEOUT, type ThreadData } from './thread-messages.js'

/** How often the thread shows a sign of life, in milliseconds. */
const PULSE = 500

type RequestOf<T extends Request['type']> = Extract<Request, { type: T }>

/** The stores of the heartbeat thread, and the grants that it keeps. Answers requests in the order in which they come. */
export class ThreadHost {
  readonly #time: SharedTime
  readonly #keeper: Keeper
  readonly #outbox: Outbox<Reply>
  readonly #onStopped: () => void
  readonly #stores = new Map<number, LeaseStore>()
  /** The requests to open a store that are still wanted, by the store. */
  readonly #opening = new Map<number, number>()
  readonly #calls = new Map<number, AbortableCall>()
  #isStopping = false

  constructor(data: ThreadData, send: (replies: readonly Reply[]) => void, onStopped: () => void) {
    this.#time = new SharedTime(data.time, 'writer')
    this.#keeper = new Keeper(this.#time, new KeptSlots(data.slots), (slot, outcome) =>
      this.#post({ type: 'refused', slot, outcome }),
    )
    this.#outbox = new Outbox(send, (reply, error) => {
      if ('id' in reply) this.#post({ type: 'error', id: reply.id, error: toPortable(error) })
    })
    this.#onStopped = onStopped
    this.#beat()
  }

  receive(requests: readonly Request[]): void {
    for (const request of requests) this.#receive(request)
  }

  #beat(): void {
    this.#time.showThread()
    systemClock.schedule(PULSE, () => this.#beat())
  }

  #receive(request: Request): void {
    switch (request.type) {
      case 'open':
        this.#opening.set(request.store, request.id)
        this.#answer(request.id, () => this.#open(request))
        return
      case 'close':
        this.#answer(request.id, () => this.#close(request.store))
        return
      case 'call':
        this.#call(request)
        return
      case 'abort':
        this.#calls.get(request.id)?.abort()
        return
      case 'stop':
        void this.#stop()
        return
      case 'keep': {
        const store = this.#stores.get(request.store)
        if (store !== undefined) this.#keeper.keep(request.spec, store)
        return
      }
      case 'unkeep':
        this.#answer(request.id, async () => this.#keeper.unkeep(request.slot))
    }
  }

  async #open({ id: request, store: id, spec }: RequestOf<'open'>): Promise<unknown> {
    const store = await openStore(spec)
    if (this.#opening.get(id) !== request) {
      // Its user has waited too long, and may have asked for it again.
      await store.close()
      throw new LeaseUnavailableError('the store was closed while it was being opened')
    }
    this.#opening.delete(id)
    this.#stores.set(id, store)
    const onClosed = (): void => {
      // When the thread ends, its user may open the store again, in the next thread.
      if (!this.#isStopping) this.#post({ type: 'store-closed', store: id })
    }
    store.closed?.addEventListener('abort', onClosed, { once: true })
    return describeStore(store)
  }

  async #close(id: number): Promise<void> {
    const store = this.#stores.get(id)
    this.#opening.delete(id)
    this.#stores.delete(id)
    await store?.close()
  }

  #call({ id, store, method, args, timeout }: RequestOf<'call'>): void {
    const call = new AbortableCall(timeout)
    this.#calls.set(id, call)
    this.#answer(id, async () => {
      try {
        const onItem = (value: unknown): void => this.#post({ type: 'item', id, value })
        const opened = this.#storeOf(store)
        const ask = async (): Promise<unknown> => await callStore(opened, method, args, call, onItem)
        return await this.#keeper.pass(method, args, call, ask)
      } finally {
        this.#calls.delete(id)
      }
    })
  }

  #storeOf(id: number): LeaseStore {
    const store = this.#stores.get(id)
    if (store !== undefined) return store
    throw new LeaseUnavailableError('the store is closed: make a lease over an open one')
  }

  #answer(id: number, ask: () => Promise<unknown>): void {
    ask().then(
      (value) => this.#post({ type: 'answer', id, value }),
      (error: unknown) => this.#post({ type: 'error', id, error: toPortable(error) }),
    )
  }

  #post(reply: Reply): void {
    this.#outbox.post(reply)
  }

  async #stop(): Promise<void> {
    this.#isStopping = true
    const ends = Array.from(this.#stores.values(), (store) => store.close())
    await settledInTime(systemClock, STOP_TIMEOUT, ends)
    this.#outbox.flush()
    this.#onStopped()
  }
}
