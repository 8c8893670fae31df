import { type Grant, type LeaseLost, type LeaseRecord, LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import {
  type Claim,
  detailsOf,
  type Engine,
  type EngineEnvironment,
  type EngineEvent,
  type GrantEffect,
  isDefinitive,
  judge,
  type LeaseRules,
  parentLost,
  type ReleaseResult,
  type SeenState,
  storeClosed,
} from '@leasehold/core/internal'
import { reasonOf } from '@leasehold/core/store'
import { convertErrors } from './portable-effect.js'
import { fromPortable, type PortableError } from './portable-error.js'
import { RemoteClaims } from './remote-claims.js'
import { RemoteFence } from './remote-fence.js'
import type { LinkedLease, ThreadLink } from './thread-link.js'
import type { HostedMethods, LeaseNews, LeaseSpec } from './thread-messages.js'

/** The store of the lease, as its engine sees it. */
export interface RemoteStore {
  readonly group: Engine['group']
  readonly isClosed: boolean
  /** The thread in which the store is open, or will be. Rejects with a typed error. */
  link(): ThreadLink | Promise<ThreadLink>
  /** The number of the store in the thread. */
  readonly id: number
  engage(engine: RemoteEngine, isEngaged: boolean): void
}

/** The place of a lease in one life of the thread. */
interface Seat {
  readonly link: ThreadLink
  readonly lease: number
  readonly slot: number
}

/** The grant that the user was notified of. Its end lies in the shared memory. */
interface SeenGrant {
  readonly number: number
  readonly grant: Grant
  phase: 'held' | 'jeopardy' | 'releasing'
}

const idle: SeenState = { phase: 'idle' }
const releasing: SeenState = { phase: 'releasing' }

/** The engine of a lease, as its user sees it: the engine itself runs in the heartbeat thread. */
export class RemoteEngine implements Engine, LinkedLease {
  readonly rules: LeaseRules
  readonly fence?: RemoteFence
  readonly #spec: LeaseSpec
  readonly #store: RemoteStore
  readonly #environment: EngineEnvironment
  readonly #onGrant: (effect: GrantEffect) => void
  #seat: Seat | undefined
  readonly #claims = new RemoteClaims()
  #seen: SeenGrant | undefined
  #refusedFor: string | undefined
  #isAwaiting: ThreadLink | undefined

  constructor(
    spec: LeaseSpec,
    rules: LeaseRules,
    store: RemoteStore,
    environment: EngineEnvironment,
    onGrant: (effect: GrantEffect) => void,
  ) {
    this.#spec = spec
    this.rules = rules
    this.#store = store
    this.#environment = environment
    this.#onGrant = onGrant
    if (spec.selfFence === undefined) return
    const onEnded = (): void => this.dispatch({ type: 'end', reason: 'closed' })
    this.fence = new RemoteFence(spec.selfFence, rules.ttl, () => store.link(), onEnded)
  }

  get group(): Engine['group'] {
    return this.#store.group
  }

  get unresponsiveAfter(): number {
    return this.#spec.unresponsiveAfter
  }

  get state(): SeenState {
    const seen = this.#seen
    if (seen === undefined) return idle
    const { phase, grant, number } = seen
    return phase === 'releasing' ? releasing : { phase, grant, validUntil: this.#validUntil(number) }
  }

  get refusedFor(): string | undefined {
    return this.#refusedFor
  }

  get isQuiet(): boolean {
    return this.#seen === undefined && this.#claims.isEmpty
  }

  claim(claim: Claim, adopted?: Grant): void {
    if (this.#store.isClosed) {
      claim.unlisten?.()
      claim.reject(storeClosed(this.rules))
      return
    }
    const { parent } = this.#environment
    parent?.join()
    // Callers that share an attempt share its parent's grant.
    if (this.isQuiet) parent?.bind()
    this.#refusedFor = undefined
    this.#claims.add(claim)
    this.#store.engage(this, true)
    let link: ThreadLink | Promise<ThreadLink>
    try {
      link = this.#store.link()
    } catch (error) {
      this.#rejectAll(error)
      return
    }
    if (link instanceof Promise) {
      // Definitive errors, such as those of the configuration, stay as they are; so does that of a thread that hangs.
      const isFinal = (error: unknown): boolean => isDefinitive(error) || error instanceof LeaseTimeoutError
      const fail = (error: unknown): void => this.#rejectAll(isFinal(error) ? error : this.#ended(error))
      link.then((ready) => this.#sendClaims(ready, adopted), fail)
    } else this.#sendClaims(link, adopted)
  }

  unclaim(claim: Claim): void {
    const id = this.#claims.remove(claim)
    if (id !== undefined) this.#post('unclaim', id)
    this.#settle()
  }

  async abandon(): Promise<void> {
    const dropped = this.#takeAll()
    const seat = this.#seat
    try {
      if (seat !== undefined && !seat.link.isEnded) {
        await seat.link.ask({ type: 'abandon', lease: seat.lease }).answer.catch((error) => {
          throw seat.link.isEnded ? this.#ended(error) : error
        })
      }
      for (const claim of dropped) claim.resolve(false)
    } catch (error) {
      for (const claim of dropped) claim.reject(error)
      throw error
    }
  }

  dispatch(event: EngineEvent): void {
    const seen = this.#seen
    if (seen === undefined) return
    switch (event.type) {
      case 'release':
      case 'hand-off':
        if (seen.phase === 'releasing') return
        seen.phase = 'releasing'
        this.#post('ask', seen.number, event)
        this.#settle()
        return
      case 'children-released':
      case 'update':
      case 'renew':
        this.#post('ask', seen.number, event)
        return
      case 'end':
        if (seen.phase === 'releasing') return
        this.#post('ask', seen.number, event)
        this.#lose(seen, { reason: event.reason })
    }
  }

  onParentLost(): void {
    if (this.#environment.parent?.isLost === true) this.dispatch({ type: 'end', reason: 'parent-lost' })
    this.#dropClaims(parentLost(this.rules))
  }

  onStoreClosed(): void {
    const seen = this.#seen
    if (seen !== undefined && seen.phase !== 'releasing') this.#lose(seen, { reason: 'closed' })
    this.#rejectAll(storeClosed(this.rules))
  }

  onSilent(): void {
    const seen = this.#seen
    if (seen === undefined || seen.phase === 'releasing') return
    if (this.#validUntil(seen.number) > this.#environment.clock.now()) return
    this.#post('ask', seen.number, { type: 'end', reason: 'expired' })
    this.#lose(seen, { reason: 'expired' })
  }

  onThreadEnded(cause: Error): void {
    const seen = this.#seen
    this.#seat = undefined
    this.#isAwaiting = undefined
    const error = this.#ended(cause)
    if (seen?.phase === 'releasing') this.#onReleased({ ended: 'unknown', error })
    else if (seen !== undefined) this.#lose(seen, { reason: 'closed', cause: error })
    this.#rejectAll(error)
  }

  onNews(number: number, news: LeaseNews): void {
    const seen = this.#seen
    if (news.type === 'granted') {
      this.#onGranted(number, news)
      return
    }
    // Of a grant that is over here: its loss was reported, it was not wanted, or its loss and its release have crossed.
    const isStale = seen?.number !== number || (seen.phase === 'releasing' && news.type !== 'released')
    if (news.type === 'joined') {
      if (isStale) this.#claimAgain(news.claim)
      else this.#onJoined(seen, news.claim)
      return
    }
    const effect = convertErrors(news, (error) => fromPortable(error as PortableError))
    if (effect.type === 'fault') {
      this.#onGrant(effect)
      return
    }
    if (isStale) return
    switch (effect.type) {
      case 'lost':
        this.#lose(seen, effect.lost)
        return
      case 'released':
        this.#onReleased(effect.result)
        return
      case 'renewed':
      case 'jeopardy':
        seen.phase = effect.type === 'renewed' ? 'held' : 'jeopardy'
    }
    this.#onGrant(effect)
  }

  onSettled(id: number, refusedFor: string | undefined, error: PortableError | undefined): void {
    this.#refusedFor = refusedFor
    const claim = this.#claims.take(id)
    if (error === undefined) claim?.resolve(false)
    else claim?.reject(fromPortable(error))
    this.#settle()
  }

  onHolder(id: number, holder: LeaseRecord): void {
    const claim = this.#claims.get(id)
    if (claim?.preempt === undefined || this.#seat === undefined) return
    const breaks = judge(claim.preempt, holder, this.rules)
    if (breaks === true) this.#post('judged', id, holder.grantId)
    else if (breaks !== false) {
      claim.reject(breaks)
      this.unclaim(claim)
    }
  }

  #sendClaims(link: ThreadLink, adopted: Grant | undefined): void {
    const claims = this.#claims.send(this.#environment.clock.now())
    if (claims.length === 0) return
    this.#takeSeat(link)
    // Its validity is over here: the thread may not have seen a suspend yet.
    const over = this.#seen?.number
    for (const claim of claims) this.#post('claim', claim, adopted, over)
    this.#settle()
  }

  #takeSeat(link: ThreadLink): void {
    let seat = this.#seat
    if (seat?.link !== link) {
      seat = { link, ...link.register(this) }
      this.#seat = seat
      link.post({ type: 'lease', lease: seat.lease, slot: seat.slot, store: this.#store.id, spec: this.#spec })
    }
    link.engage(seat.lease, this)
    this.fence?.engage(link)
  }

  /** The grant that the caller would share was ended here meanwhile. */
  #claimAgain(id: number): void {
    this.#claims.resend(id)
    if (this.#seat !== undefined) this.#sendClaims(this.#seat.link, undefined)
  }

  /** A caller came when the grant was on its way. */
  #onJoined({ grant }: SeenGrant, id: number): void {
    const claim = this.#claims.take(id)
    if (claim === undefined) return
    claim.resolve(true)
    this.#onGrant({ type: 'joined', grant, claims: [claim] })
    this.#settle()
  }

  #onGranted(number: number, { grant, previous, claims: ids, place }: Extract<LeaseNews, { type: 'granted' }>): void {
    const claims = ids.flatMap((id) => this.#claims.take(id) ?? [])
    const isParentLost = this.#environment.parent?.isLost === true
    if (claims.length === 0 || isParentLost) {
      this.#post('unwanted', number)
      for (const claim of claims) claim.reject(parentLost(this.rules))
      this.#settle()
      return
    }
    this.#seen = { number, grant, phase: 'held' }
    const seat = this.#seat
    if (place !== undefined && seat !== undefined) {
      const { link, lease } = seat
      const acknowledge = (): void => link.post({ type: 'to-hosted', lease, method: 'acknowledged', args: [number] })
      this.fence?.granted({ link, place, acknowledge })
    }
    for (const claim of claims) claim.resolve(true)
    this.#onGrant({ type: 'granted', grant, previous, claims })
    this.#settle()
  }

  #onReleased(result: ReleaseResult): void {
    this.#seen = undefined
    this.fence?.left()
    this.#onGrant({ type: 'released', result })
    this.#settle()
  }

  #lose({ grant }: SeenGrant, lost: LeaseLost): void {
    this.#seen = undefined
    this.#onGrant({ type: 'lost', grant, lost })
    this.#settle()
  }

  /** Calls a method of the lease in the thread in which it has its seat, if it has one. */
  #post<Name extends keyof HostedMethods>(method: Name, ...args: Parameters<HostedMethods[Name]>): void {
    const seat = this.#seat
    seat?.link.post({ type: 'to-hosted', lease: seat.lease, method, args })
  }

  /** On the clock of this thread. Never later than the thread has confirmed it. */
  #validUntil(number: number): number {
    const seat = this.#seat
    if (seat === undefined) return Number.NEGATIVE_INFINITY
    const until = seat.link.slots.read(seat.slot, number)
    return Number.isFinite(until) ? seat.link.time.toSystem(until) : until
  }

  /** Gives the attempt up; a grant that it produces is not wanted. */
  #dropClaims(error: unknown): void {
    const hadClaims = !this.#claims.isEmpty
    const seat = this.#seat
    this.#rejectAll(error)
    if (hadClaims && seat !== undefined) seat.link.ask({ type: 'abandon', lease: seat.lease }).answer.catch(() => {})
  }

  #rejectAll(error: unknown): void {
    for (const claim of this.#takeAll()) claim.reject(error)
  }

  #takeAll(): readonly Claim[] {
    const claims = this.#claims.takeAll()
    this.#settle()
    return claims
  }

  /** Keeps the process alive while an answer is awaited, and lets go of the thread and the parent when nothing is held. */
  #settle(): void {
    const seat = this.#seat
    const awaits = this.#claims.areAwaited || this.#seen?.phase === 'releasing' ? seat?.link : undefined
    if (awaits !== this.#isAwaiting) {
      awaits?.await(1)
      this.#isAwaiting?.await(-1)
      this.#isAwaiting = awaits
    }
    if (!this.isQuiet) return
    this.#store.engage(this, false)
    if (seat !== undefined) seat.link.disengage(seat.lease)
    this.fence?.disengage()
    this.#environment.parent?.leave()
  }

  #ended(cause: unknown): LeaseUnavailableError {
    return new LeaseUnavailableError(
      `lease '${this.rules.name}': ${reasonOf(cause)}. Acquire it again: that starts a new thread`,
      { ...detailsOf(this.rules), cause },
    )
  }
}
