import { type LeaseStore, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { SharedTime, settledInTime } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { type DeadlineKeeper, Deadlines } from '@leasehold/self-fence'
import { HostedLease, type LeaseHost } from './hosted-lease.js'
import { callStore, describeStore, openStore } from './hosted-store.js'
import { LeaseSlots } from './lease-slots.js'
import { Outbox } from './outbox.js'
import { toPortable } from './portable-error.js'
import { type Reply, type Request, STOP_TIMEOUT, type ThreadData } from './thread-messages.js'

/** How often the thread shows a sign of life, in milliseconds. */
const PULSE = 500

type RequestOf<T extends Request['type']> = Extract<Request, { type: T }>

/** The stores and the engines of the heartbeat thread. Answers requests in the order in which they come. */
export class ThreadHost implements LeaseHost {
  readonly time: SharedTime
  readonly slots: LeaseSlots
  readonly keeper: DeadlineKeeper
  readonly outbox: Outbox<Reply>
  readonly #onStopped: () => void
  readonly #stores = new Map<number, LeaseStore>()
  /** The requests to open a store that are still wanted, by the store. */
  readonly #opening = new Map<number, number>()
  readonly #leases = new Map<number, HostedLease>()
  readonly #calls = new Map<number, AbortableCall>()
  #numbers = 0
  #isStopping = false

  constructor(data: ThreadData, send: (replies: readonly Reply[]) => void, onStopped: () => void) {
    this.time = new SharedTime(data.time, 'writer')
    this.slots = new LeaseSlots(data.slots)
    const deadlines = new Deadlines(data.deadlines, this.time)
    // The user's thread has started the watchdog before a claim comes here.
    this.keeper = { start: () => undefined, add: () => deadlines.add() }
    this.outbox = new Outbox(send, (reply, error) => {
      if ('id' in reply) this.#post({ type: 'error', id: reply.id, error: toPortable(error) })
    })
    this.#onStopped = onStopped
    this.#beat()
  }

  nextNumber(): number {
    this.#numbers += 1
    return this.#numbers
  }

  /** The thread is ending: nothing is renewed any more. */
  endAll(): void {
    this.slots.endAll()
  }

  receive(requests: readonly Request[]): void {
    for (const request of requests) this.#receive(request)
  }

  #beat(): void {
    this.time.showThread()
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
      case 'lease': {
        const store = this.#stores.get(request.store)
        if (store !== undefined) this.#leases.set(request.lease, new HostedLease(request, store, this))
        return
      }
      case 'forget':
        // Nothing refuses a grant of it that is on its way.
        this.#leases
          .get(request.lease)
          ?.abandon()
          .catch(() => {})
        this.#leases.delete(request.lease)
        return
      case 'abandon':
        this.#answer(request.id, async () => await this.#leases.get(request.lease)?.abandon())
        return
      case 'to-hosted': {
        const lease = this.#leases.get(request.lease)
        if (lease !== undefined) Reflect.apply(lease[request.method], lease, request.args)
      }
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
      // At the end of the thread its user may open the store again, in the next one.
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
        return await callStore(this.#storeOf(store), method, args, call, onItem)
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
    this.outbox.post(reply)
  }

  async #stop(): Promise<void> {
    this.#isStopping = true
    for (const things of [this.#leases, this.#stores]) {
      const ends = Array.from(things.values(), (thing: HostedLease | LeaseStore) => thing.close())
      await settledInTime(systemClock, STOP_TIMEOUT, ends)
    }
    this.outbox.flush()
    this.#onStopped()
  }
}
