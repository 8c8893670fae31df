import type { LeaseLost } from '../errors/lease-lost.js'
import type { AcquireOptions, PreemptOptions } from '../lease/acquire-options.js'
import type { LeaseRun } from '../lease/lease-run.js'
import { normalGuid } from '../store/guid.js'
import type { AbortListeners } from '../time/abort-listeners.js'
import type { Clock } from '../time/clock.js'
import { Deferred } from '../time/deferred.js'
import { keepAlive } from '../time/keep-alive.js'
import { systemClock } from '../time/system-clock.js'

/** The parts of a request that a caller of `acquire` may choose. */
export type Wishes = Pick<AcquireOptions, 'metadata' | 'ifMatch' | 'grantId'>

const noWishes: Wishes = {}
const noClaims: readonly Claim[] = []

/** The engine of the lease, as a caller sees it that may give up. */
interface ClaimedEngine {
  readonly group: { readonly aborts: AbortListeners }
  unclaim(claim: Claim): void
}

/** One caller of `acquire` that waits for the outcome. */
export class Claim extends Deferred<boolean> {
  readonly onLost: ((lost: LeaseLost) => void) | undefined
  /** When it gives up waiting for its turn; `-Infinity` for a caller that tries once. */
  readonly waitUntil: number
  readonly wishes: Wishes
  /** The run that wants the grant; `undefined` for a caller of `acquire`. */
  readonly run: LeaseRun | undefined
  /** Stops listening to the caller's signal. */
  unlisten: (() => void) | undefined

  /** Only of a caller that waits. */
  readonly preempt: PreemptOptions | undefined
  readonly #endKeeping: (() => void) | undefined
  /** The grant of a holder that the caller was asked about last, and its answer. */
  judged: { readonly grantId: string; readonly breaks: boolean } | undefined

  constructor(waitUntil: number, options: AcquireOptions, run?: LeaseRun, clock: Clock = systemClock) {
    super()
    const { onLost, metadata, ifMatch, grantId, preempt, keepAlive: keepsAlive } = options
    this.waitUntil = waitUntil
    this.preempt = waitUntil === Number.NEGATIVE_INFINITY ? undefined : preempt
    this.onLost = onLost
    const id = normalGuid(grantId)
    this.wishes = { ...(metadata && { metadata }), ...(ifMatch && { ifMatch }), ...(id && { grantId: id }) }
    this.run = run
    if (keepsAlive !== false) this.#endKeeping = keepAlive(clock)
  }

  override resolve(isHeld: boolean): void {
    this.#endKeeping?.()
    super.resolve(isHeld)
  }

  override reject(error: unknown): void {
    this.#endKeeping?.()
    super.reject(error)
  }

  /** From now on the caller gives up when its signal aborts: rejects with the reason of the signal. */
  listenTo(signal: AbortSignal, engine: ClaimedEngine): void {
    this.unlisten = engine.group.aborts.add(signal, () => {
      engine.unclaim(this)
      this.reject(signal.reason)
    })
  }
}

/** The callers that share an attempt. Each gets one outcome, and is then removed. */
export class Claims {
  /** Absent while there are none, as in a lease that is held. */
  #claims: Claim[] | undefined
  #deadline: number | undefined

  get all(): readonly Claim[] {
    return this.#claims ?? noClaims
  }

  get isEmpty(): boolean {
    return this.all.length === 0
  }

  /** When the first waiting caller gives up; `Infinity` where none waits. */
  get deadline(): number {
    return this.#deadline ?? Number.POSITIVE_INFINITY
  }

  /** Whether any of them wants a place in the queue. */
  get waits(): boolean {
    for (const claim of this.all) if (isWaiting(claim)) return true
    return false
  }

  /** The wishes of the first caller. */
  get wishes(): Wishes {
    return this.all[0]?.wishes ?? noWishes
  }

  add(claim: Claim): void {
    if (this.#claims === undefined) this.#claims = [claim]
    else this.#claims.push(claim)
    if (isWaiting(claim)) this.#deadline = Math.min(this.deadline, claim.waitUntil)
  }

  /** Removes a caller that no longer waits for the outcome. */
  remove(claim: Claim): void {
    this.#keep((other) => other !== claim)
    claim.unlisten?.()
  }

  /** Removes and returns all callers; the caller of this method settles them. */
  takeAll(): readonly Claim[] {
    const claims = this.all
    this.#claims = undefined
    this.#deadline = undefined
    for (const claim of claims) claim.unlisten?.()
    return claims
  }

  /** Removes and returns the callers whose time is up. */
  takeDue(now: number): readonly Claim[] {
    const isDue = ({ waitUntil }: Claim): boolean => waitUntil <= now
    if (this.all.every(isDue)) return this.takeAll()
    const due = this.all.filter(isDue)
    this.#keep((claim) => !isDue(claim))
    for (const claim of due) claim.unlisten?.()
    return due
  }

  #keep(isKept: (claim: Claim) => boolean): void {
    this.#claims = this.all.filter(isKept)
    this.#deadline = this.#claims
      .filter(isWaiting)
      .reduce((earliest, { waitUntil }) => Math.min(earliest, waitUntil), Number.POSITIVE_INFINITY)
  }
}

function isWaiting({ waitUntil }: Claim): boolean {
  return waitUntil !== Number.NEGATIVE_INFINITY
}
