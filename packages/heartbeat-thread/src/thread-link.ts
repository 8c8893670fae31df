import type { Worker, WorkerOptions } from 'node:worker_threads'
import { LeaseTimeoutError, LeaseUnavailableError, systemClock } from '@leasehold/core'
import {
  createTimeMemory,
  type GrantToKeep,
  type KeptGrant,
  type KeptLease,
  reasonOf,
  SharedTime,
  settledInTime,
} from '@leasehold/core/internal'
import { KeptHere } from './kept-here.js'
import { KeptSlots } from './kept-slots.js'
import { Outbox } from './outbox.js'
import { fromPortable } from './portable-error.js'
import {
  type OpenedStore,
  type Reply,
  type Request,
  STOP_TIMEOUT,
  type StoreSpec,
  type ThreadData,
} from './thread-messages.js'

/** How long the thread renews for a user that shows no sign of life, in milliseconds, unless the settings say otherwise. */
const UNRESPONSIVE_AFTER = 60_000

/** How often this thread shows a sign of life, in milliseconds; more often where a lease has a short `unresponsiveAfter`. */
const PULSE = 1_000
/** The signs of life within `unresponsiveAfter`. */
const SIGNS = 4

/** How long the thread goes on without leases, in milliseconds. */
const IDLE_TIME = 10_000

/** How long the thread may show no sign of life before it is ended, in milliseconds in which this thread was alive. */
const TOO_SILENT = 30_000

/** How long a stop waits for the leases and then for the stores before it terminates the thread, in milliseconds. */
const LONGEST_STOP = 2 * STOP_TIMEOUT + 2_000

/** The options of the worker thread. Unless given, it has the flags and the environment of the process. */
export type HeartbeatThreadOptions = Pick<WorkerOptions, 'execArgv' | 'env' | 'resourceLimits'>

type Asked<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onItem: ((value: unknown) => void) | undefined
}

/** One life of the heartbeat thread, and the messages to and from it. */
export class ThreadLink {
  readonly time: SharedTime
  readonly slots = new KeptSlots()
  readonly #worker: Worker
  readonly #outbox: Outbox<Request>
  readonly #onStoreClosed: (store: number) => void
  readonly #pending = new Map<number, Pending>()
  /** The leases that are held or asked for. */
  readonly #engaged = new Set<KeptLease>()
  /** The grants that are kept, by their slots. */
  readonly #kept = new Map<number, { readonly grant: KeptHere; readonly lease: KeptLease }>()
  readonly #ended: Promise<void>
  #isEnded = false
  #isStopping = false
  #serial = 0
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
    this.#onStoreClosed = onStoreClosed
    const workerData: ThreadData = { time: memory, slots: this.slots.memory }
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    this.#worker = new Worker(programUrl(), { ...options, name: 'leasehold heartbeats', workerData })
    // Until it is online, the thread keeps the process alive, because somebody waits for its store.
    this.#worker.once('online', () => this.#worker.unref())
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

  get hasEnded(): boolean {
    return this.#isEnded
  }

  nextNumber(): number {
    this.#serial += 1
    return this.#serial
  }

  post(request: Request): void {
    if (!this.#isEnded) this.#outbox.post(request)
  }

  /**
   * Rejects with the error of the thread. `onItem` gets the values of an iterable. This does not keep the process alive.
   */
  ask(
    request: Asked<Request>,
    onItem?: (value: unknown) => void,
  ): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = this.nextNumber()
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#isEnded) reject(threadEnded())
      else this.#pending.set(id, { resolve, reject, onItem })
    })
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

  /** Notes that the lease is held, or asked for. */
  engage(lease: KeptLease): void {
    if (this.#isEnded || this.#engaged.has(lease)) return
    this.#engaged.add(lease)
    this.#pulse = Math.min(this.#pulse, (lease.unresponsiveAfter ?? UNRESPONSIVE_AFTER) / SIGNS)
    this.time.showUser()
    if (!this.#isBeating) this.#beat()
  }

  disengage(lease: KeptLease): void {
    this.#engaged.delete(lease)
  }

  /** Keeps a grant, whose store has this number. The thread knows of it before any other code of this thread runs. */
  keep(store: number, { deadline, ...given }: GrantToKeep, lease: KeptLease): KeptGrant {
    const { time } = this
    const slot = this.slots.take()
    const grant = new KeptHere(this, slot, given.grant)
    if (this.#isEnded) return grant
    this.#kept.set(slot, { grant, lease })
    const [confirmedAt, holdUntil] = [time.fromSystem(given.confirmedAt), time.fromSystem(given.holdUntil)]
    const { unresponsiveAfter = UNRESPONSIVE_AFTER } = lease
    const fence = deadline && {
      memory: deadline.memory,
      place: deadline.place,
      ahead: deadline.now() - time.now(),
      killAfter: deadline.killAfter,
      askBefore: deadline.askBefore,
    }
    this.post({ type: 'keep', store, spec: { ...given, slot, confirmedAt, holdUntil, unresponsiveAfter, fence } })
    this.#outbox.flush()
    return grant
  }

  unkeep(slot: number): void {
    if (!this.#kept.delete(slot)) return
    const { answer } = this.ask({ type: 'unkeep', slot })
    answer.then(
      () => this.slots.giveBack(slot),
      () => {},
    )
  }

  /** Ends all leases, then closes the stores and ends the thread, also one that hangs. Resolves when it has ended. */
  async stop(): Promise<void> {
    const cancel = systemClock.schedule(LONGEST_STOP, () => void this.#worker.terminate())
    const ends = Array.from(this.#engaged, (lease) => lease.end())
    await settledInTime(systemClock, STOP_TIMEOUT, ends)
    if (!this.#isEnded) this.#stop()
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
      case 'refused': {
        const kept = this.#kept.get(reply.slot)
        if (kept === undefined) return
        kept.grant.refusal = reply.outcome
        kept.lease.onKeptRefused()
      }
    }
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
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
    const reason = failure === undefined ? `exit code ${code}` : reasonOf(failure)
    const error = threadEnded(reason, failure)
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(error)
    for (const lease of [...this.#engaged]) lease.onKeeperEnded(error)
    this.#engaged.clear()
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
