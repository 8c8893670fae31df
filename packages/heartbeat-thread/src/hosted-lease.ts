import {
  type AcquireOptions,
  type Grant,
  type LeaseRecord,
  LeaseSettings,
  type LeaseStore,
  systemClock,
  TimeoutSettings,
} from '@leasehold/core'
import {
  Claim,
  Deferred,
  type EngineEnvironment,
  type EventOf,
  forChildren,
  type GrantEffect,
  heldIn,
  LeaseEngine,
  onGrant,
  type ReleaseResult,
  type SharedTime,
} from '@leasehold/core/internal'
import { systemRandom } from '@leasehold/core/store'
import { type DeadlineKeeper, SelfFence } from '@leasehold/self-fence'
import type { LeaseSlots } from './lease-slots.js'
import type { Outbox } from './outbox.js'
import { convertErrors } from './portable-effect.js'
import { type PortableError, toPortable } from './portable-error.js'
import type {
  AskedOfGrant,
  ClaimSpec,
  HostedMethods,
  LeaseNews,
  LinkedMethods,
  Reply,
  Request,
} from './thread-messages.js'

/** The thread, as its leases see it. */
export interface LeaseHost {
  readonly time: SharedTime
  readonly slots: LeaseSlots
  readonly keeper: DeadlineKeeper
  readonly outbox: Outbox<Reply>
  /** A number that no other grant of the thread has. */
  nextNumber(): number
}

/** A caller of `acquire` in the thread of the user. */
class HostedClaim extends Claim {
  readonly id: number

  constructor(id: number, waitUntil: number, options: AcquireOptions) {
    super(waitUntil, options)
    this.id = id
  }
}

/** The engine of one lease whose user is in another thread. */
export class HostedLease implements HostedMethods {
  readonly #host: LeaseHost
  readonly #lease: number
  readonly #slot: number
  readonly #engine: LeaseEngine
  readonly #fence?: SelfFence
  readonly #claims = new Map<number, HostedClaim>()
  /** Of the last grant that the user was notified of. */
  #number = 0
  /** The grant that is held, or whose loss is being reported, where the user has to acknowledge its loss. */
  #fenced: string | undefined
  /** By the numbers of the grants whose losses are not acknowledged yet. */
  readonly #unacknowledged = new Map<number, Deferred<void>>()

  constructor({ lease, slot, spec }: Extract<Request, { type: 'lease' }>, store: LeaseStore, host: LeaseHost) {
    this.#host = host
    this.#lease = lease
    this.#slot = slot
    const { unresponsiveAfter, timeouts, ...given } = spec
    const settings = new LeaseSettings({ ...given, timeouts: new TimeoutSettings(timeouts) })
    const environment: EngineEnvironment = {
      clock: systemClock,
      random: systemRandom,
      isUnresponsive: () => host.time.userSilence > unresponsiveAfter,
      workUnder: (grantId) => this.#workUnder(grantId),
    }
    const graced = forChildren(store, settings, systemClock)
    this.#engine = new LeaseEngine(settings, graced, environment, { [onGrant]: (effect) => this.#onGrant(effect) })
    // The watchdog belongs to the user's thread, which is told if it ends.
    if (spec.selfFence === undefined) return
    this.#fence = new SelfFence(spec.selfFence, this.#engine.rules.ttl, () => {}, host.keeper)
  }

  claim({ id, wait, wishes, period }: ClaimSpec, adopted: Grant | undefined, over: number | undefined): void {
    if (heldIn(this.#engine.state) !== undefined) {
      if (over !== this.#number) {
        // The user did not know yet that the lease was granted to earlier callers.
        this.#news({ type: 'joined', claim: id })
        return
      }
      // The user's clock was ahead by a suspend that this thread had not seen: its validity is over.
      this.#engine.dispatch({ type: 'end', reason: 'suspended' })
    }
    const when = (holder: LeaseRecord): boolean => {
      this.#tell('onHolder', id, { ...holder })
      return false
    }
    const preempt = period === undefined ? {} : { preempt: { period, when } }
    const waitUntil = wait === undefined ? Number.NEGATIVE_INFINITY : systemClock.now() + wait
    const claim = new HostedClaim(id, waitUntil, { ...wishes, ...preempt })
    this.#claims.set(id, claim)
    const begin = async (): Promise<boolean> => {
      this.#engine.claim(claim, adopted)
      return await claim.promise
    }
    const settle = (error?: PortableError): void => {
      if (this.#claims.delete(id)) this.#tell('onSettled', id, this.#engine.refusedFor, error)
    }
    begin().then(
      (isGranted) => isGranted || settle(),
      (error) => settle(toPortable(error)),
    )
  }

  unclaim(id: number): void {
    const claim = this.#claims.get(id)
    this.#claims.delete(id)
    if (claim !== undefined) this.#engine.unclaim(claim)
  }

  /** The store is asked again, and then the grant is broken. */
  judged(id: number, grantId: string): void {
    const claim = this.#claims.get(id)
    if (claim === undefined) return
    claim.judged = { grantId, breaks: true }
    this.#engine.dispatch({ type: 'turn' })
  }

  /** The user holds nothing: ends the attempt, and frees a grant that it may have produced meanwhile. */
  async abandon(): Promise<void> {
    this.#claims.clear()
    if (this.#holds(this.#number)) this.#giveBack()
    await this.#engine.abandon()
  }

  unwanted(number: number): void {
    // It may have been lost meanwhile: no work was done under it.
    if (this.#holds(number)) this.#giveBack()
    else this.acknowledged(number)
  }

  ask(number: number, event: AskedOfGrant): void {
    switch (event.type) {
      case 'release':
      case 'hand-off':
        void this.#release(number, event)
        return
      case 'children-released':
        this.#engine.dispatch(event)
        return
      default:
        if (this.#holds(number)) this.#engine.dispatch(event)
    }
  }

  acknowledged(number: number): void {
    this.#unacknowledged.get(number)?.resolve()
    this.#unacknowledged.delete(number)
  }

  /** Ends the lease: its user is notified, and its grant is released. */
  async close(): Promise<void> {
    this.#engine.dispatch({ type: 'end', reason: 'closed' })
    await this.#engine.abandon()
  }

  #holds(number: number): boolean {
    return number === this.#number && heldIn(this.#engine.state) !== undefined
  }

  async #release(number: number, event: EventOf<'release' | 'hand-off'>): Promise<void> {
    if (this.#holds(number)) {
      this.#leave()
      this.#engine.dispatch(event)
      // The validity of a hand-off was over: it was lost instead.
      if (this.#engine.state.phase === 'releasing' || event.type === 'release') return
    }
    const released = (result: ReleaseResult): void =>
      this.#tell('onNews', number, convertErrors({ type: 'released', result }, toPortable))
    if (event.type === 'hand-off') return released({ ended: 'held' })
    // The loss and the request have crossed: what is left of the grant is being freed.
    try {
      await this.#engine.abandon()
      released({ ended: 'gone' })
    } catch (error) {
      released({ ended: 'unknown', error })
    }
  }

  #giveBack(): void {
    this.#leave()
    this.#engine.dispatch({ type: 'release' })
  }

  /** The grant is given up: its validity ends here, before the store is asked. */
  #leave(): void {
    this.#host.slots.end(this.#slot)
    this.#fence?.disarm()
    this.#fenced = undefined
  }

  #onGrant(effect: GrantEffect): void {
    switch (effect.type) {
      case 'granted':
        this.#onGranted(effect)
        return
      case 'joined':
        return
      case 'renewed':
        this.#write()
        break
      case 'lost':
        this.#host.slots.end(this.#slot)
    }
    this.#news(convertErrors(effect, toPortable))
    if (effect.type === 'lost') this.#awaitAcknowledgement()
  }

  #onGranted({ grant, previous, claims: granted }: Extract<GrantEffect, { type: 'granted' }>): void {
    this.#number = this.#host.nextNumber()
    if (this.#fence !== undefined) this.#fenced = grant.grantId
    this.#write()
    const claims = granted.map((claim) => (claim as HostedClaim).id).filter((id) => this.#claims.delete(id))
    this.#news({ type: 'granted', grant, previous, claims, place: this.#fence?.place })
    // Its callers see the outcome before anything that follows it.
    this.#host.outbox.flush()
  }

  #awaitAcknowledgement(): void {
    if (this.#fenced === undefined) return
    this.#fence?.acknowledge(this.#acknowledgement().promise)
    this.#fenced = undefined
  }

  /** A self-fenced grant is not freed before the user has acknowledged its loss. */
  #workUnder(grantId: string): Promise<void> | undefined {
    return grantId === this.#fenced ? this.#acknowledgement().promise : undefined
  }

  #acknowledgement(): Deferred<void> {
    const known = this.#unacknowledged.get(this.#number)
    if (known !== undefined) return known
    const acknowledgement = new Deferred<void>()
    this.#unacknowledged.set(this.#number, acknowledgement)
    return acknowledgement
  }

  #write(): void {
    const held = heldIn(this.#engine.state)
    if (held === undefined) return
    const { slots, time } = this.#host
    slots.write(this.#slot, this.#number, time.fromSystem(held.validUntil))
    this.#fence?.arm(held.validUntil)
  }

  #news(news: LeaseNews): void {
    this.#tell('onNews', this.#number, news)
  }

  #tell<Name extends keyof LinkedMethods>(method: Name, ...args: Parameters<LinkedMethods[Name]>): void {
    this.#host.outbox.post({ type: 'to-linked', lease: this.#lease, method, args })
  }
}
