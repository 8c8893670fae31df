import { isLocked, type LeaseLost, type LeaseLostReason } from '@leasehold/core'
import { Deferred, lossError, shownText } from '@leasehold/core/internal'
import { aborts } from '../first-abort.js'
import { ExclusiveLease } from '../read-write/read-write-lease.js'
import { EnteredLease } from '../slots/entered-lease.js'
import type { Turnstile } from '../slots/turnstile.js'
import { isStaying } from '../slots/turnstile-record.js'
import type { LockInfo } from './lock.js'
import { type HeldLock, LockHold } from './lock-hold.js'
import type { LockRequest } from './lock-request.js'
import { exclusiveMetadata, StealingLease } from './stealing-lease.js'

/** The losses that another program has caused while the lease was valid. */
const stolen: ReadonlySet<LeaseLostReason> = new Set(['broken', 'taken'])

/**
 * The lock request queue of one name, and its held locks: those of this process, as the Web Locks API has them. The first
 * request of the queue claims the name from the store, so that the processes of a fleet take turns.
 */
export class LockQueue {
  readonly #name: string
  readonly #turnstile: Turnstile
  readonly #report: (error: unknown, message: string) => void
  readonly #onIdle: () => void
  readonly #pending: LockRequest[] = []
  /** What stops listening to the signals of pending requests. */
  readonly #unlisten = new Map<LockRequest, () => void>()
  /** The lease that is held here, also while it is being released. */
  #hold: LockHold | undefined
  /** The exclusive hold that the first request is about to steal from this process: the name stays locked until then. */
  #robbed: LockHold | undefined
  readonly #leaving = new Set<LockHold>()
  #withdraw: (() => void) | undefined
  #isServing = false
  #emptied: Deferred<void> | undefined

  /** `onIdle` is called when nothing is held or pending. */
  constructor(
    name: string,
    turnstile: Turnstile,
    report: (error: unknown, message: string) => void,
    onIdle: () => void,
  ) {
    this.#name = name
    this.#turnstile = turnstile
    this.#report = report
    this.#onIdle = onIdle
  }

  /** The locks that this process holds. */
  get held(): readonly LockInfo[] {
    return Array.from(this.#hold?.locks ?? [], ({ request }) => this.#infoOf(request))
  }

  /** The requests of this process that wait, in their order. */
  get pending(): readonly LockInfo[] {
    return this.#pending.map((request) => this.#infoOf(request))
  }

  get isIdle(): boolean {
    const isHeld = this.#hold !== undefined || this.#robbed !== undefined || this.#leaving.size > 0
    return !isHeld && !this.#isServing && this.#pending.length === 0
  }

  /** Settles when nothing is held or pending. */
  get idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    this.#emptied ??= new Deferred()
    return this.#emptied.promise
  }

  /** "Request a lock", from its third step on. */
  add(request: LockRequest): void {
    if (request.steal) {
      this.#steal(request)
    } else if (request.ifAvailable && !(this.#pending.length === 0 && this.#isGrantable(request))) {
      this.#refuse(request)
    } else {
      this.#pending.push(request)
      const { signal } = request
      if (signal !== undefined)
        this.#unlisten.set(
          request,
          aborts.add(signal, () => this.#abort(request, signal)),
        )
    }
    void this.#serve()
  }

  /** Rejects all pending requests, and asks the callbacks of the held locks to end. */
  stop(reason: unknown): void {
    for (const request of this.#pending.splice(0)) {
      this.#forget(request)
      request.reject(reason)
    }
    this.#withdraw?.()
    for (const lock of this.#hold?.locks ?? []) lock.abort(reason)
  }

  /** All held locks of the name end, and the request is before all others. */
  #steal(request: LockRequest): void {
    const hold = this.#hold
    if (hold !== undefined && hold.locks.size > 0) {
      this.#hold = undefined
      hold.end(this.#stolenBy('another request of this process'))
      if (hold.mode === 'shared') void this.#leave(hold)
      else this.#robbed = hold
    }
    this.#pending.unshift(request)
    this.#withdraw?.()
  }

  /** "Abort the request", and the reason for its caller. */
  #abort(request: LockRequest, { reason }: AbortSignal): void {
    const isFirst = this.#pending[0] === request
    this.#remove(request)
    request.reject(reason)
    if (isFirst) this.#withdraw?.()
    void this.#serve()
  }

  /** Whether the first request of the queue may be granted, as far as this process knows. */
  #isGrantable({ mode }: LockRequest): boolean {
    if (this.#hold === undefined) return true
    return mode === 'shared' && this.#hold.mode === 'shared' && !this.#hold.isClosed
  }

  /** "Process the lock request queue". Never rejects. */
  async #serve(): Promise<void> {
    if (this.#isServing) return
    this.#isServing = true
    for (let first = this.#pending[0]; first !== undefined && this.#isGrantable(first); first = this.#pending[0]) {
      await this.#serveFirst(first)
    }
    this.#isServing = false
    this.#lookIfIdle()
  }

  async #serveFirst(first: LockRequest): Promise<void> {
    const controller = new AbortController()
    this.#withdraw = () => controller.abort()
    try {
      if (this.#hold === undefined) await this.#claim(first, controller.signal)
      else await this.#join(first, this.#hold, controller.signal)
    } catch (error) {
      if (controller.signal.aborted) return
      this.#remove(first)
      first.reject(error)
    } finally {
      this.#withdraw = undefined
      if (this.#pending[0]?.steal !== true) this.#forgetRobbed()
    }
  }

  /** Claims the name from the store. */
  async #claim(request: LockRequest, signal: AbortSignal): Promise<void> {
    const { mode, ifAvailable } = request
    const hold = new LockHold(mode, this.#leaseFor(request), (lostHold, lost) => this.#onLost(lostHold, lost))
    let isGranted = false
    try {
      const isHeld = await hold.acquire(ifAvailable, signal, mode === 'exclusive' ? exclusiveMetadata : undefined)
      isGranted = isHeld && !hold.isClosed && !signal.aborted
      if (isGranted) this.#grant(request, hold)
      else if (!isHeld && ifAvailable && !signal.aborted) this.#refuse(request)
    } finally {
      if (!isGranted) void this.#leave(hold)
    }
  }

  /** The robbed lease has no grant any more, or the theft has failed. */
  #forgetRobbed(): void {
    const robbed = this.#robbed
    this.#robbed = undefined
    if (robbed !== undefined) void this.#leave(robbed)
  }

  #leaseFor({ mode, steal }: LockRequest): EnteredLease {
    if (steal) return new StealingLease(this.#turnstile)
    return mode === 'exclusive' ? new ExclusiveLease(this.#turnstile) : new EnteredLease(this.#turnstile)
  }

  /** Holds a shared lock under the lease that is held, unless another process waits for the name. */
  async #join(request: LockRequest, hold: LockHold, signal: AbortSignal): Promise<void> {
    const isWaitedFor = await this.#isWaitedFor(signal)
    if (signal.aborted || this.#hold !== hold || hold.isClosed) return
    if (!isWaitedFor) return this.#grant(request, hold)
    // Requests of the Web Locks API do not overtake: this one waits behind that of the other process.
    hold.isClosed = true
    if (request.ifAvailable) this.#refuse(request)
  }

  async #isWaitedFor(signal: AbortSignal): Promise<boolean> {
    try {
      const record = await this.#turnstile.readRecord(undefined, signal)
      return isLocked(record) && isStaying(record)
    } catch {
      // The lease that is held is valid, or its loss is reported.
      return false
    }
  }

  #grant(request: LockRequest, hold: LockHold): void {
    this.#remove(request)
    this.#hold = hold
    void this.#work(request, hold, hold.add(request))
  }

  /** Calls the callback, and releases the lock when it has settled. Never rejects. */
  async #work(request: LockRequest, hold: LockHold, held: HeldLock): Promise<void> {
    const calling = request.call(held.lock)
    await calling.catch(() => {})
    // The lock may have ended before; the promise of the request has been rejected then.
    if (!hold.locks.delete(held)) return
    if (hold.locks.size === 0) await this.#end(hold)
    request.resolve(calling)
  }

  /** Releases the lease of a hold without locks. The name counts as held until that is settled. */
  async #end(hold: LockHold): Promise<void> {
    hold.isClosed = true
    await this.#leave(hold)
    if (this.#hold === hold) this.#hold = undefined
    void this.#serve()
  }

  /** Never rejects. A lease that cannot be released expires. */
  async #leave(hold: LockHold): Promise<void> {
    this.#leaving.add(hold)
    try {
      await hold.lease.release()
    } catch (error) {
      this.#report(error, `the lock '${this.#name}' was not released: it is free when its ttl is over`)
    }
    this.#leaving.delete(hold)
    this.#lookIfIdle()
  }

  #onLost(hold: LockHold, lost: LeaseLost): void {
    if (this.#hold !== hold) return
    // Its release is under way.
    if (hold.locks.size === 0) return
    this.#hold = undefined
    const { details, settings } = this.#turnstile
    const isStolen = stolen.has(lost.reason)
    const by = lost.owner === undefined ? 'another process' : `'${shownText(lost.owner)}'`
    hold.end(
      isStolen ? this.#stolenBy(by) : lossError(lost, { ...details, leaseName: settings.name, owner: settings.owner }),
    )
    void this.#serve()
  }

  /** Calls the callback with `null`. */
  #refuse(request: LockRequest): void {
    this.#remove(request)
    request.resolve(request.call(null))
  }

  #remove(request: LockRequest): void {
    const place = this.#pending.indexOf(request)
    if (place >= 0) this.#pending.splice(place, 1)
    this.#forget(request)
  }

  #forget(request: LockRequest): void {
    this.#unlisten.get(request)?.()
    this.#unlisten.delete(request)
  }

  #lookIfIdle(): void {
    if (!this.isIdle) return
    this.#emptied?.resolve()
    this.#emptied = undefined
    this.#onIdle()
  }

  #stolenBy(owner: string): DOMException {
    return new DOMException(`the lock '${shownText(this.#name)}' was stolen by ${owner}`, 'AbortError')
  }

  #infoOf({ name, mode }: LockRequest): LockInfo {
    return { name, mode, clientId: this.#turnstile.settings.owner }
  }
}
