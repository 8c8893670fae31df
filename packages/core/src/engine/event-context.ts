import type { GrantOrigin } from '../channels/messages.js'
import type { LeaseEnvironment } from '../lease/lease-environment.js'
import type { LeaseRecorder } from '../lease/lease-recorder.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { planHeartbeat } from '../settings/planned-heartbeat.js'
import type { HeartbeatPlan } from '../settings/renewal-strategy.js'
import type { Grant, LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/system-clock.js'
import { systemRandom } from '../time/system-random.js'
import { callGuarded, guardClock, guardRandom } from '../user-code/guarded-calls.js'
import type { EngineEffect } from './engine-effect.js'
import type { GrantKeeper, SharedDeadline } from './grant-keeper.js'
import { handedOver, originOf, type SeenHolder, seenHolder } from './grant-origin.js'
import { groupOf, type LeaseGroup } from './lease-group.js'
import { type LeaseRules, rulesOf } from './lease-rules.js'

/** The rules of the lease, and the time and random numbers of an event: the transition function itself reads no clock. */
export interface EventContext {
  readonly rules: LeaseRules
  readonly now: number
  /** How much suspended time the clock has counted; 0 where it does not know. */
  readonly suspended: number
  /** Numbers from 0 to 1. */
  readonly random: () => number
  /** Whether the lease stands under a parent whose grant is not valid: it may neither hold nor get a grant. */
  readonly isParentLost: boolean
  /** Whether this thread showed no sign of life for so long that its grant was not renewed any more. */
  readonly isUnresponsive: boolean
  /** When the next heartbeat is due, by the strategy of the lease. */
  plan(): HeartbeatPlan
  /** An instant shortly before `at` that other leases of the store choose as well, or `at` itself. */
  shared(at: number, now: number): number
}

/** The parent of a lease, as the engine of the lease sees it. */
export interface EngineParent {
  /** Whether the grant that the attempt was bound to is not valid. */
  readonly isLost: boolean
  /** Binds the attempt that begins to the grant of the parent that is in force. */
  bind(): void
  /** From now on the lease is notified of the end of that grant. */
  join(): void
  /** The lease holds nothing any more, and asks for nothing. */
  leave(): void
}

/** Where an engine takes time and random numbers from. */
export interface EngineEnvironment {
  readonly clock: Clock
  /** The clock that the user gave, where `clock` guards it: leases with the same one share timers. */
  readonly userClock?: Clock | undefined
  /** Numbers from 0 to 1, 1 excluded: for jitter. */
  readonly random: () => number
  /** Records the decisions of the lease; `undefined` unless the user gave a recorder. */
  readonly recorder?: LeaseRecorder | undefined
  /** The lease under which this one stands, if there is one. */
  readonly parent?: EngineParent | undefined
  /** Renews the grants while this thread is blocked; `undefined` if the store has no keeper. */
  readonly keeper?: GrantKeeper | undefined
  /** For a self-fenced lease: sets the deadline of the grant that is valid until then. */
  readonly setDeadline?: ((validUntil: number) => SharedDeadline | undefined) | undefined
  /** For a self-fenced lease: the work under a grant that is in progress. The name is not freed before it has ended. */
  readonly workUnder?: ((grantId: string) => Promise<void> | undefined) | undefined
}

/** The environment of all leases for which the user gave neither a clock nor random numbers. */
const systemEnvironment: EngineEnvironment = { clock: systemClock, random: systemRandom }

/** The clock and the random numbers of a lease, guarded where the user gave them. */
export function guardEnvironment(
  { clock = systemClock, random, recorder }: LeaseEnvironment,
  report: (error: unknown) => void,
): EngineEnvironment {
  const isOfSystem = clock === systemClock && random === undefined
  const guarded: EngineEnvironment = isOfSystem
    ? systemEnvironment
    : {
        clock: guardClock(clock, report),
        userClock: clock,
        random: random === undefined ? systemRandom : guardRandom(random, report),
      }
  return recorder === undefined ? guarded : { ...guarded, recorder }
}

/**
 * The part of an engine that is the context of its events: an object for each event, or one more for each lease, would cost
 * more than most events. Suspended time and random numbers are read where a transition uses them: the boot clock costs
 * microseconds, and most events need neither.
 */
export abstract class EngineContext implements EventContext {
  /** Replaced between calls, only by an objective. */
  rules: LeaseRules
  readonly group: LeaseGroup
  now = Number.NEGATIVE_INFINITY
  /** The holder for which the last attempt was refused, if the store named it. */
  refusedFor: string | undefined
  /** What the attempt has seen of the holder, if anyone listens to the channels. */
  protected seen: SeenHolder | undefined
  protected readonly settings: LeaseSettings
  protected readonly environment: EngineEnvironment

  constructor(settings: LeaseSettings, store: LeaseStore, environment: EngineEnvironment) {
    const { clock, userClock = clock, random } = environment
    this.group = groupOf(store, userClock, random)
    this.rules = rulesOf(settings, this.group.traits)
    this.settings = settings
    this.environment = environment
  }

  /** How the name became free for the grant that was confirmed now. */
  get origin(): GrantOrigin {
    return originOf(this.seen, this.refusedFor !== undefined, this.now)
  }

  /** An attempt begins. */
  protected forgetHolder(adopted: Grant | undefined): void {
    this.refusedFor = undefined
    this.seen = adopted && handedOver
  }

  /** The attempt was refused. */
  protected noteHolder(holder: LeaseRecord | undefined): void {
    this.refusedFor = holder?.owner
    this.seen = seenHolder(holder, this.now)
  }

  /** Reports an error of code that the user supplied. */
  abstract report(error: unknown): void

  /** Tells the strategy how long a heartbeat took. */
  protected observe(effect: EngineEffect): void {
    if (effect.type !== 'renewed' && effect.type !== 'jeopardy') return
    const { latency } = effect
    const { strategy } = this.settings.timeouts
    if (latency === undefined || !('observe' in strategy)) return
    callGuarded(
      () => strategy.observe?.(latency),
      (error) => this.report(error),
    )
  }

  plan(): HeartbeatPlan {
    return planHeartbeat(this.rules.plannedTimes, this.random(), this)
  }

  shared(at: number, now: number): number {
    return this.group.shared(at, now)
  }

  get suspended(): number {
    return this.environment.clock.suspended?.() ?? 0
  }

  get random(): () => number {
    return this.environment.random
  }

  get isParentLost(): boolean {
    return this.environment.parent?.isLost === true
  }

  abstract readonly isUnresponsive: boolean
}
