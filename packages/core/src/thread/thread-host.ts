import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { Deadlines } from '../self-fence/deadlines.js'
import type { DeadlineKeeper } from '../self-fence/watchdog.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'
import { systemClock } from '../system-clock.js'
import { HostedLease, type LeaseHost } from './hosted-lease.js'
import { callStore, describeStore, openStore } from './hosted-store.js'
import { LeaseSlots } from './lease-slots.js'
import { Outbox } from './outbox.js'
import { toPortable } from './portable-error.js'
import { SharedTime } from './shared-time.js'
import type { Reply, Request, StoreSpec, ThreadData } from './thread-messages.js'

/** How often the thread shows a sign of life, in milliseconds. */
const PULSE = 500

/** How long the end of the thread waits for leases that do not end, and for stores, in milliseconds. */
const STOP_TIMEOUT = 8_000

type RequestOf<T extends Request['type']> = Extract<Request, { type: T }>

/** The stores and the engines of the heartbeat thread. Answers requests in the order in which they come. */
export class ThreadHost {
  readonly #time: SharedTime
  readonly #slots: LeaseSlots
  readonly #keeper: DeadlineKeeper
  readonly #outbox: Outbox<Reply>
  readonly #onStopped: () => void
  readonly #stores = new Map<number, LeaseStore>()
  readonly #leases = new Map<number, HostedLease>()
  readonly #calls = new Map<number, AbortableCall>()
  #numbers = 0
  #isStopping = false

  constructor(data: ThreadData, send: (replies: readonly Reply[]) => void, onStopped: () => void) {
    this.#time = new SharedTime(data.time, 'writer')
    this.#slots = new LeaseSlots(data.slots)
    const deadlines = new Deadlines(data.deadlines, (instant) => this.#time.fromSystem(instant))
    // The user's thread has started the watchdog before a claim comes here.
    this.#keeper = { start: () => undefined, add: () => deadlines.add() }
    this.#outbox = new Outbox(send, (reply, error) => {
      if ('id' in reply) this.#post({ type: 'error', id: reply.id, error: toPortable(error) })
    })
    this.#onStopped = onStopped
    this.#beat()
  }

  /** The thread is ending: nothing is renewed any more. */
  endAll(): void {
    this.#slots.endAll()
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
        this.#answer(request.id, () => this.#open(request.store, request.spec))
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
      case 'lease':
        this.#addLease(request)
        return
      case 'forget':
        this.#leases.delete(request.lease)
        return
      case 'abandon':
        this.#answer(request.id, async () => await this.#leases.get(request.lease)?.abandon())
        return
      default:
        this.#ofLease(request)
    }
  }

  #ofLease(request: RequestOf<'claim' | 'unclaim' | 'judged' | 'ask' | 'unwanted' | 'acknowledged'>): void {
    const lease = this.#leases.get(request.lease)
    switch (request.type) {
      case 'claim':
        if (lease !== undefined) lease.claim(request.claim, request.adopted, request.over)
        else this.#refuse(request.lease, request.claim.id)
        return
      case 'unclaim':
        lease?.unclaim(request.claim)
        return
      case 'judged':
        lease?.judged(request.claim, request.grantId)
        return
      case 'ask':
        lease?.ask(request.number, request.event)
        return
      case 'unwanted':
        lease?.unwanted(request.number)
        return
      case 'acknowledged':
        lease?.acknowledged(request.number)
    }
  }

  async #open(id: number, spec: StoreSpec): Promise<unknown> {
    const store = await openStore(spec)
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

  #addLease({ lease, store, slot, spec }: RequestOf<'lease'>): void {
    const host: LeaseHost = {
      nextNumber: () => {
        this.#numbers += 1
        return this.#numbers
      },
      userSilence: () => this.#time.userSilence,
      write: (number, validUntil) => this.#slots.write(slot, number, this.#time.fromSystem(validUntil)),
      end: () => this.#slots.end(slot),
      keeper: this.#keeper,
      news: (number, news) => {
        this.#post({ type: 'news', lease, number, news })
        // Its callers see the outcome before anything that follows it.
        if (news.type === 'granted') this.#outbox.flush()
      },
      settled: (claim, refusedFor, error) => {
        const portable = error === undefined ? undefined : toPortable(error)
        this.#post({ type: 'settled', lease, claim, refusedFor, error: portable })
      },
      judge: (claim, holder) => this.#post({ type: 'judge', lease, claim, holder }),
    }
    const opened = this.#stores.get(store)
    if (opened !== undefined) this.#leases.set(lease, new HostedLease(spec, opened, host))
  }

  /** The store of the lease was closed before the lease was made. */
  #refuse(lease: number, claim: number): void {
    this.#post({ type: 'settled', lease, claim, refusedFor: undefined, error: toPortable(storeIsClosed()) })
  }

  #storeOf(id: number): LeaseStore {
    const store = this.#stores.get(id)
    if (store !== undefined) return store
    throw storeIsClosed()
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
    const leases = [...this.#leases.values()].map((lease) => lease.close())
    await within(STOP_TIMEOUT, leases)
    await within(
      STOP_TIMEOUT,
      [...this.#stores.values()].map((store) => store.close()),
    )
    this.#outbox.flush()
    this.#onStopped()
  }
}

function storeIsClosed(): LeaseUnavailableError {
  return new LeaseUnavailableError('the store is closed: make a lease over an open one')
}

/** Resolves when all are settled, or the time is up. */
async function within(limit: number, all: readonly Promise<unknown>[]): Promise<void> {
  let cancel = (): void => {}
  const late = new Promise<void>((resolve) => {
    cancel = systemClock.schedule(limit, resolve)
  })
  await Promise.race([Promise.allSettled(all), late])
  cancel()
}
