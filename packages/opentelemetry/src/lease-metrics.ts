import type { Clock } from '@leasehold/core'
import type {
  AcquiredMessage,
  AcquireMessage,
  GuardRejectedMessage,
  JeopardyMessage,
  LeaseMessage,
  LostMessage,
  RecoveredMessage,
  ReleasedMessage,
  RenewedMessage,
  StallMessage,
  StoreMessage,
  WaitingMessage,
} from '@leasehold/core/channels'
import type { Attributes } from '@opentelemetry/api'
import type { GroupNames } from './group-names.js'
import type { Instruments, Reading } from './instruments.js'
import { type AllLeaseSeries, type LeaseSeries, withError } from './lease-series.js'
import type { Subscriptions } from './subscriptions.js'

/** A lease that is held now. */
interface HeldLease {
  readonly series: LeaseSeries
  readonly recipe: string | undefined
  isInJeopardy: boolean
}

/** An operation in progress: its message is the same object from the beginning to the end. */
interface Timed {
  [BEGUN]?: number | undefined
}

/** When an operation began, on its message: cheaper than a map of messages. */
const BEGUN = Symbol('begun')

const SECOND = 1_000

/** Operations of the store that are heartbeats. */
const HEARTBEATS = new Set(['renew', 'renewMany', 'update'])

/** Measures leases and the operations of their stores. */
export class LeaseMetrics {
  readonly #instruments: () => Instruments
  readonly #clock: Clock
  readonly #recipes: GroupNames
  readonly #series: AllLeaseSeries
  readonly #held = new Map<object, HeldLease>()
  /** The series that have had a lease that expires. */
  readonly #expiring = new Set<LeaseSeries>()

  constructor(instruments: () => Instruments, clock: Clock, series: AllLeaseSeries, recipes: GroupNames) {
    this.#instruments = instruments
    this.#clock = clock
    this.#recipes = recipes
    this.#series = series
  }

  subscribe(subscriptions: Subscriptions): void {
    const begin = (message: Timed): void => {
      message[BEGUN] = this.#clock.now()
    }
    subscriptions.onOperation<AcquireMessage & Timed>('leasehold:acquire', {
      begin,
      end: (message) => this.#onAsked(message),
    })
    subscriptions.onOperation<StoreMessage & Timed>('leasehold:store', {
      begin,
      end: (message) => this.#onAnswer(message),
    })
    subscriptions.on<AcquiredMessage>('leasehold:acquired', (message) => this.#onAcquired(message))
    subscriptions.on<RenewedMessage>('leasehold:renewed', (message) => this.#onRenewed(message))
    subscriptions.on<JeopardyMessage>('leasehold:jeopardy', (message) => {
      this.#heldOf(message).isInJeopardy = true
    })
    subscriptions.on<RecoveredMessage>('leasehold:recovered', (message) => this.#endJeopardy(message, 'recovered'))
    subscriptions.on<LostMessage>('leasehold:lost', (message) => this.#onLost(message))
    subscriptions.on<ReleasedMessage>('leasehold:released', (message) => this.#onReleased(message))
    subscriptions.on<WaitingMessage>('leasehold:waiting', (message) => {
      this.#series.of(message).waiting += message.waiting ? 1 : -1
    })
    subscriptions.on<GuardRejectedMessage>('leasehold:guard-rejected', ({ guard }) => {
      this.#instruments().guardRejected.add(1, { guard })
    })
    subscriptions.on<StallMessage>('leasehold:stall', ({ lateness }) => {
      this.#instruments().stall.record(lateness / SECOND)
    })
  }

  readonly held: Reading = (observe) => {
    for (const { attributes, held } of this.#series) {
      for (const [recipe, count] of held) observe(count, recipe === undefined ? attributes : { ...attributes, recipe })
    }
  }

  readonly waiting: Reading = (observe) => {
    // A caller that began to wait before the instrumentation may end to wait after it.
    for (const { attributes, waiting } of this.#series) observe(Math.max(waiting, 0), attributes)
  }

  readonly leastValidity: Reading = (observe) => {
    const least = new Map<LeaseSeries, number>()
    for (const [lease, { series }] of this.#held) {
      const { remaining } = lease as { readonly remaining?: number }
      // A lease that does not expire has no end.
      if (remaining === undefined || !Number.isFinite(remaining)) continue
      this.#expiring.add(series)
      least.set(series, Math.min(least.get(series) ?? Number.POSITIVE_INFINITY, remaining))
    }
    // An SDK repeats the last value of a series that is not observed any more, and NaN is below no limit.
    for (const series of this.#expiring) observe((least.get(series) ?? Number.NaN) / SECOND, series.attributes)
  }

  /** How long an operation took, in seconds; `undefined` if it began before the instrumentation. */
  #durationOf(message: Timed): number | undefined {
    const begun = message[BEGUN]
    message[BEGUN] = undefined
    return begun === undefined ? undefined : (this.#clock.now() - begun) / SECOND
  }

  #onAsked(message: AcquireMessage & Timed): void {
    const duration = this.#durationOf(message)
    if (duration === undefined) return
    const outcome = message.outcome ?? 'unknown'
    const attributes = this.#series.of(message).with('outcome', outcome)
    this.#instruments().acquireDuration.record(duration, withError(attributes, message.error))
  }

  #onAnswer(message: StoreMessage & Timed): void {
    const duration = this.#durationOf(message)
    if (duration === undefined) return
    const { operation, store, error, outcome = 'unknown' } = message
    const { storeDuration, renewalDuration } = this.#instruments()
    storeDuration.record(duration, withError({ store, outcome, operation }, error))
    if (HEARTBEATS.has(operation)) renewalDuration.record(duration, withError({ store, outcome }, error))
  }

  #onAcquired(message: AcquiredMessage): void {
    this.#forget(message)
    const { series } = this.#heldOf(message, message.metadata?.recipe)
    const { from: kind, vacancy } = message
    if (vacancy !== undefined) {
      this.#instruments().handoverDuration.record(vacancy / SECOND, { ...series.attributes, kind })
    }
  }

  #onRenewed(message: RenewedMessage): void {
    const { attributes } = this.#heldOf(message).series
    // A lease that does not expire has no margin.
    if (message.ttl !== Number.POSITIVE_INFINITY) this.#instruments().renewalMargin.record(message.margin, attributes)
  }

  #onLost(message: LostMessage): void {
    const { attributes } = this.#series.of(message)
    const { reason } = message
    this.#endJeopardy(message, 'lost')
    this.#forget(message)
    this.#instruments().lost.add(1, { ...attributes, reason })
    this.#recordHold(message, { ...attributes, end: 'lost', reason })
  }

  #onReleased(message: ReleasedMessage): void {
    this.#endJeopardy(message, 'released')
    this.#forget(message)
    this.#recordHold(message, this.#series.of(message).with('end', message.end))
  }

  /** The time of a lease that was acquired before anyone listened is not known. */
  #recordHold({ held }: LostMessage | ReleasedMessage, attributes: Attributes): void {
    if (held !== undefined) this.#instruments().holdDuration.record(held / SECOND, attributes)
  }

  #endJeopardy(message: LeaseMessage, outcome: 'recovered' | 'lost' | 'released'): void {
    const held = this.#held.get(message.lease)
    if (held?.isInJeopardy !== true) return
    held.isInJeopardy = false
    this.#instruments().jeopardy.add(1, { ...held.series.attributes, outcome })
  }

  /** The lease as held: also one that was acquired before the instrumentation. */
  #heldOf(message: LeaseMessage, recipe?: string): HeldLease {
    let held = this.#held.get(message.lease)
    if (held !== undefined) return held
    const series = this.#series.of(message)
    held = { series, recipe: recipe === undefined ? undefined : this.#recipes.of(recipe), isInJeopardy: false }
    this.#held.set(message.lease, held)
    series.count(held.recipe, 1)
    return held
  }

  #forget({ lease }: LeaseMessage): void {
    const held = this.#held.get(lease)
    if (held === undefined) return
    this.#held.delete(lease)
    held.series.count(held.recipe, -1)
  }
}
