import type { Worker, WorkerOptions } from 'node:worker_threads'
import { LeaseTimeoutError, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { createTimeMemory, SharedTime } from '@leasehold/core/internal'
import { reasonOf } from '@leasehold/core/store'
import { createDeadlineMemory, Deadlines, Watchdog } from '@leasehold/self-fence'
import { LeaseSlots } from './lease-slots.js'
import { Outbox } from './outbox.js'
import { fromPortable } from './portable-error.js'
import {
  type LinkedMethods,
  type OpenedStore,
  type Reply,
  type Request,
  STOP_TIMEOUT,
  type StoreSpec,
  type ThreadData,
} from './thread-messages.js'

/** How often this thread shows a sign of life, in milliseconds; more often where a lease has a short `unresponsiveAfter`. */
const PULSE = 1_000
/** The signs of life within `unresponsiveAfter`. */
const SIGNS = 4

/** How long the thread goes on without leases, in milliseconds. */
const IDLE_TIME = 10_000

/** After how long without a sign of life of the thread its leases are taken to have expired at the end of their validity. */
const SILENT = 2_000
/** After how long the thread is ended. Milliseconds in which this thread was alive. */
const TOO_SILENT = 30_000

/** A thread that was asked to end, and has not, is terminated after this time, in milliseconds. It waits for its leases and stores itself. */
const LONGEST_STOP = 2 * STOP_TIMEOUT + SILENT

/** The options of the worker thread. Unless given, it has the flags and the environment of the process. */
export type HeartbeatThreadOptions = Pick<WorkerOptions, 'execArgv' | 'env' | 'resourceLimits'>

/** The user of a lease whose engine is in the thread. */
export interface LinkedLease extends LinkedMethods {
  readonly unresponsiveAfter: number
  /** The thread shows no sign of life: a validity that is over will not be reported by it. */
  onSilent(): void
  onThreadEnded(cause: Error): void
}

type Asked<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onItem: ((value: unknown) => void) | undefined
}

/** One life of the heartbeat thread, and the messages to and from it. */
export class ThreadLink {
  readonly time: SharedTime
  readonly slots = new LeaseSlots()
  /** Of the self-fenced grants. The thread sets them, and this one ends those whose losses are acknowledged. */
  readonly deadlines: Deadlines
  readonly watchdog: Watchdog
  /** Of the deadlines for which this thread answers when the heartbeat thread has ended. */
  readonly places = new Set<number>()
  readonly #worker: Worker
  readonly #outbox: Outbox<Request>
  readonly #onStoreClosed: (store: number) => void
  readonly #pending = new Map<number, Pending>()
  /** The leases that are held or asked for. */
  readonly #engaged = new Map<number, LinkedLease>()
  readonly #forgotten = new FinalizationRegistry<{ readonly lease: number; readonly slot: number }>(({ lease, slot }) =>
    this.#forget(lease, slot),
  )
  readonly #ended: Promise<void>
  #isEnded = false
  #isStopping = false
  #serial = 0
  /** How many answers the process has to be kept alive for. */
  #awaited = 0
  #pulse = PULSE
  #isBeating = false
  #seenAt = 0
  #silentFor = 0

  /** `onEnding`: the thread is not to be used any more. Throws if the thread cannot be started. */
  constructor(
    options: HeartbeatThreadOptions,
    onEnding: (link: ThreadLink) => void,
    onStoreClosed: (store: number) => void,
  ) {
    const memory = createTimeMemory()
    this.time = new SharedTime(memory, 'reader')
    this.deadlines = new Deadlines(createDeadlineMemory(), this.time)
    this.watchdog = new Watchdog(() => this.deadlines)
    this.#onStoreClosed = onStoreClosed
    const workerData: ThreadData = { time: memory, slots: this.slots.memory, deadlines: this.deadlines.memory }
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    this.#worker = new Worker(programUrl(), { ...options, name: 'leasehold heartbeats', workerData })
    this.#worker.unref()
    this.#outbox = new Outbox(
      (requests) => this.#worker.postMessage(requests),
      (request, error) => {
        if ('id' in request) this.#settle(request.id)?.reject(error)
      },
    )
    this.#worker.on('message', (replies: readonly Reply[]) => {
      for (const reply of replies) this.#receive(reply)
    })
    let failure: unknown
    // An error is followed by the exit.
    this.#worker.on('error', (error) => {
      failure = error
    })
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        onEnding(this)
        this.#end(failure, code)
        resolve()
      })
    })
    this.#lookWhetherIdle(() => onEnding(this))
  }

  /** Whether it has ended, or has been told to end. */
  get isEnded(): boolean {
    return this.#isEnded || this.#isStopping
  }

  nextNumber(): number {
    this.#serial += 1
    return this.#serial
  }

  post(request: Request): void {
    if (!this.#isEnded) this.#outbox.post(request)
  }

  /** Rejects with the error of the thread. `onItem` gets the values of an iterable; its caller does not keep the process alive. */
  ask(
    request: Asked<Request>,
    onItem?: (value: unknown) => void,
  ): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = this.nextNumber()
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#isEnded) reject(threadEnded())
      else this.#pending.set(id, { resolve, reject, onItem })
    })
    if (onItem === undefined && !this.#isEnded) this.await(1)
    this.post({ ...request, id } as Request)
    return { id, answer }
  }

  /** Opens a store. Rejects with the error of the thread, or with a `LeaseTimeoutError`; it is closed if it opens later. */
  async open(store: number, spec: StoreSpec): Promise<OpenedStore> {
    const { id, answer } = this.ask({ type: 'open', store, spec })
    const cancel = systemClock.schedule(spec.timeout, () => {
      this.#settle(id)?.reject(notOpened(spec))
      // The answer is not awaited: the thread may hang.
      this.post({ type: 'close', id: this.nextNumber(), store })
    })
    try {
      return (await answer) as OpenedStore
    } finally {
      cancel()
    }
  }

  /** Counts the answers that are awaited: meanwhile the thread keeps the process alive. */
  await(change: 1 | -1): void {
    this.#awaited += change
    if (this.#awaited === 1 && change === 1) this.#worker.ref()
    if (this.#awaited === 0) this.#worker.unref()
  }

  /** Makes the numbers of a lease. They are given back when the lease is collected as garbage. */
  register(lease: object): { readonly lease: number; readonly slot: number } {
    const places = { lease: this.nextNumber(), slot: this.slots.take() }
    this.#forgotten.register(lease, places)
    return places
  }

  /** The lease is held, or asked for. */
  engage(id: number, lease: LinkedLease): void {
    if (this.#isEnded || this.#engaged.has(id)) return
    this.#engaged.set(id, lease)
    this.#pulse = Math.min(this.#pulse, lease.unresponsiveAfter / SIGNS)
    this.time.showUser()
    if (!this.#isBeating) this.#beat()
  }

  disengage(id: number): void {
    this.#engaged.delete(id)
  }

  /** Ends all leases and closes the stores, and then ends the thread, also one that hangs. Resolves when it has ended. */
  async stop(): Promise<void> {
    if (!this.#isEnded) {
      this.await(1)
      this.#stop()
    }
    const cancel = systemClock.schedule(LONGEST_STOP, () => void this.#worker.terminate())
    await this.#ended
    cancel()
  }

  #receive(reply: Reply): void {
    switch (reply.type) {
      case 'answer':
        this.#settle(reply.id)?.resolve(reply.value)
        return
      case 'error':
        this.#settle(reply.id)?.reject(fromPortable(reply.error))
        return
      case 'item':
        this.#pending.get(reply.id)?.onItem?.(reply.value)
        return
      case 'store-closed':
        this.#onStoreClosed(reply.store)
        return
      case 'to-linked': {
        const lease = this.#engaged.get(reply.lease)
        if (lease !== undefined) Reflect.apply(lease[reply.method], lease, reply.args)
        else this.#refuse(reply)
      }
    }
  }

  /** A grant whose callers gave up while the news of it was on its way: unless it is refused, the thread renews it for ever. */
  #refuse({ lease, method, args }: Extract<Reply, { type: 'to-linked' }>): void {
    const [number, news] = args as Parameters<LinkedMethods['onNews']>
    if (method !== 'onNews' || news.type !== 'granted') return
    this.post({ type: 'to-hosted', lease, method: 'unwanted', args: [number] })
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    if (this.#pending.delete(id) && pending?.onItem === undefined) this.await(-1)
    return pending
  }

  #forget(lease: number, slot: number): void {
    this.post({ type: 'forget', lease })
    this.slots.giveBack(slot)
  }

  /** Shows a sign of life, as long as the event loop of this thread runs and a lease is engaged. */
  #beat(): void {
    this.#isBeating = this.#engaged.size > 0 && !this.#isEnded
    if (!this.#isBeating) return
    this.time.showUser()
    this.#watchThread()
    systemClock.schedule(this.#pulse, () => this.#beat())
  }

  #watchThread(): void {
    const seenAt = this.time.threadSeenAt
    this.#silentFor = seenAt === this.#seenAt ? this.#silentFor + this.#pulse : 0
    this.#seenAt = seenAt
    if (this.#silentFor > TOO_SILENT) void this.#worker.terminate()
    else if (this.#silentFor > SILENT) for (const lease of [...this.#engaged.values()]) lease.onSilent()
  }

  #stop(): void {
    if (!this.#isStopping) this.post({ type: 'stop' })
    this.#isStopping = true
  }

  /** Stops the thread when no lease has needed it for a while. */
  #lookWhetherIdle(onIdle: () => void): void {
    systemClock.schedule(IDLE_TIME, () => {
      if (this.isEnded) return
      if (this.#engaged.size > 0 || this.#pending.size > 0) {
        this.#lookWhetherIdle(onIdle)
        return
      }
      onIdle()
      this.#stop()
    })
  }

  #end(failure: unknown, code: number): void {
    this.#isEnded = true
    this.slots.endAll()
    const reason = failure === undefined ? `exit code ${code}` : reasonOf(failure)
    const error = threadEnded(reason, failure)
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(error)
    for (const lease of [...this.#engaged.values()]) lease.onThreadEnded(error)
    this.#engaged.clear()
    // Of grants that this thread had not seen, or had left.
    this.deadlines.clearExcept(this.places)
  }
}

function threadEnded(reason = 'it was closed', cause?: unknown): LeaseUnavailableError {
  return new LeaseUnavailableError(`the heartbeat thread has ended: ${reason}`, cause === undefined ? {} : { cause })
}

function notOpened({ leaseClass, path, leaseName, timeout }: StoreSpec): LeaseTimeoutError {
  return new LeaseTimeoutError(
    `the heartbeat thread did not open the store of '${path}' (${leaseClass}) within ${timeout} ms: see whether the module ` +
      'or its server hangs, or raise timeout',
    { leaseName },
  )
}

/** The program of the thread, in the language of this file. */
function programUrl(): URL {
  const { url } = import.meta
  return new URL(`./thread-program${url.slice(url.lastIndexOf('.'))}`, url)
}
