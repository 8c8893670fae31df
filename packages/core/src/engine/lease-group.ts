import { publishers } from '../channels/channels.js'
import { StorePlans } from '../objective/objective-planner.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortListeners } from '../time/abort-listeners.js'
import type { Clock } from '../time/clock.js'
import { guardClock } from '../user-code/guarded-calls.js'
import { defaultLogger } from '../user-code/logger.js'
import { Admission } from './admission.js'
import { delayedUntil, type EngineState, LATE } from './engine-state.js'
import type { LeaseRules } from './lease-rules.js'
import { Outage } from './outage.js'
import { RenewalBatch } from './renewal-batch.js'
import { type StoreTraits, traitsOf } from './store-traits.js'

/** How many leases are looked at in one turn of the event loop: more would hold it up. */
const LARGEST_TURN = 512

/** How many milliseconds of instants one pass searches for other instants that have come. */
const LONGEST_LATE = 1_024

/** How many leases choose the same instant: each wake-up of an idle process costs as much as the heartbeats of many leases. */
const LARGEST_INSTANT = 2 * LARGEST_TURN

/** An instant is brought forward by less than the remaining time divided by this, and by less than `LONGEST_FORWARD`. */
const FORWARD_PART = 16
const LONGEST_FORWARD = 1_024

/** The engine of one lease. */
export interface GroupMember {
  /** The instant at which it is woken, in whole milliseconds; `Infinity` for none. Only the group changes it. */
  wakesAt: number
  /** Its place among those that are woken then. Only the group changes it. */
  place: number
  /** Brings its timer up to date; `now` is the present instant. */
  arm(now: number): void
  /** The instant of {@link LeaseGroup.wake} has come. */
  onTimer(): void
  onStoreClosed(): void
}

/** A lease with a request that is due. */
interface DueMember extends GroupMember {
  readonly rules: Pick<LeaseRules, 'operationTimeout'>
  /** When its first caller gives up waiting. */
  readonly deadline: number
}

/** The leases of one store and clock. They share timers, batches of heartbeats, and the notice that the store is closed. */
export class LeaseGroup {
  readonly aborts = new AbortListeners()
  readonly traits: StoreTraits
  readonly renewals: RenewalBatch | undefined
  readonly claims: Admission
  /** The outage that the waiting leases of the store report together. */
  readonly outage = new Outage()
  readonly #heartbeats: Admission
  readonly #clock: Clock
  readonly #closed: AbortSignal | undefined
  readonly #onAbort = (): void => this.#onClosed()
  /** The leases to notify when the store is closed. */
  readonly #engaged = new Set<GroupMember>()
  /** The leases whose timers are to be armed, by how soon. */
  readonly #unarmed = new Map<number, GroupMember[]>()
  /** The leases to wake, by the instant in whole milliseconds. Each instant has one timer. */
  readonly #wakes = new Map<number, Wake>()
  /** The instants that have come, and have leases that were not woken yet. */
  readonly #due: number[] = []
  /** How many more leases may be woken in this turn of the event loop. */
  #room = LARGEST_TURN
  #isTurnOpen = false
  #plans: StorePlans | undefined
  readonly #phase: number

  /** `phase`: from where shared instants are counted, in milliseconds. */
  constructor(store: LeaseStore, clock: Clock, phase: number) {
    this.#clock = clock
    this.#phase = phase
    this.claims = new Admission(clock)
    this.#heartbeats = new Admission(clock)
    this.#closed = store.closed
    this.traits = traitsOf(store)
    const { renewMany, kind } = store
    if (renewMany !== undefined) {
      this.renewals = new RenewalBatch({ renewMany: renewMany.bind(store), kind }, clock, this.#heartbeats)
    }
  }

  /** What the leases with an objective have learned together. Made for the first of them. */
  get plans(): StorePlans {
    this.#plans ??= new StorePlans()
    return this.#plans
  }

  get isClosed(): boolean {
    return this.#closed?.aborted === true
  }

  /**
   * Says whether a lease holds its name or waits for it, so that it has to know when the store is closed. All share one
   * listener, which is removed with the last of them: a store may outlive any number of its clients.
   */
  engage(lease: GroupMember, isEngaged: boolean): void {
    if (this.#closed === undefined) return
    const before = this.#engaged.size
    if (isEngaged) this.#engaged.add(lease)
    else this.#engaged.delete(lease)
    const after = this.#engaged.size
    if (before === 0 && after > 0) this.#closed.addEventListener('abort', this.#onAbort, { once: true })
    if (before > 0 && after === 0) this.#closed.removeEventListener('abort', this.#onAbort)
  }

  #onClosed(): void {
    for (const lease of [...this.#engaged]) lease.onStoreClosed()
  }

  /**
   * Arms the timer of a lease within `within` milliseconds, together with those of other leases that asked meanwhile; with
   * 0, in the next turn of the event loop. Most calls, and whole short holds, are over by then and need no timer.
   */
  armSoon(lease: GroupMember, within: number): void {
    const unarmed = this.#unarmed.get(within)
    if (unarmed !== undefined) {
      unarmed.push(lease)
      return
    }
    this.#unarmed.set(within, [lease])
    this.#clock.schedule(within, () => this.#arm(within))
  }

  /**
   * Calls `onTimer` at this instant, or up to a millisecond later. It replaces the instant that was asked for before;
   * `Infinity` asks for none. The timer is set by the clock of the first lease, which reports the faults of that clock.
   */
  wake(lease: GroupMember, at: number, clock: Clock): void {
    const instant = Math.ceil(at)
    if (instant === lease.wakesAt) return
    this.#forget(lease)
    lease.wakesAt = instant
    if (instant === Number.POSITIVE_INFINITY) return
    let wake = this.#wakes.get(instant)
    if (wake === undefined) {
      const cancel = clock.schedule(instant - clock.now(), () => this.#onTimer(instant))
      wake = { leases: [], isDue: false, cancel }
      this.#wakes.set(instant, wake)
    }
    lease.place = wake.leases.push(lease) - 1
  }

  /**
   * An instant shortly before this one that other leases choose as well, so that their requests go to the store together.
   * Such instants are multiples of a power of two, counted from the phase of the clock. If those of one power have enough
   * leases, an instant of a smaller power is chosen, so that many leases are spread evenly. If the store renews one lease
   * at a time, `at` itself is returned: sharing gains nothing there.
   */
  shared(at: number, now: number): number {
    const largest = Math.min((at - now) / FORWARD_PART, LONGEST_FORWARD)
    if (this.renewals === undefined || at === Number.POSITIVE_INFINITY) return at
    for (let step = 2 ** Math.floor(Math.log2(largest)); step >= 1; step /= 2) {
      const last = Math.floor((at - this.#phase) / step) * step + this.#phase
      for (let instant = last; instant > at - largest; instant -= step) {
        const { length } = this.#wakes.get(instant)?.leases ?? []
        if (length < LARGEST_INSTANT) return instant
      }
    }
    return at
  }

  /**
   * Whether the request of a lease that is due, a claim or a heartbeat, is delayed because too many others are under way. If
   * so, `onTimer` is called as soon as there is room. It is called earlier if a caller gives up, or if the request is urgent.
   */
  delays(lease: DueMember, state: EngineState, clock: Clock): boolean {
    const admission = state.phase === 'acquiring' ? this.claims : this.#heartbeats
    const until = admission.isFull ? delayedUntil(state, lease.rules.operationTimeout, clock.now()) : undefined
    if (until === undefined) return false
    admission.delay(lease)
    this.wake(lease, Math.min(until, lease.deadline), clock)
    return true
  }

  #forget({ wakesAt, place }: GroupMember): void {
    const wake = this.#wakes.get(wakesAt)
    const last = wake?.leases.pop()
    if (wake === undefined || last === undefined) return
    if (place < wake.leases.length) {
      wake.leases[place] = last
      last.place = place
    }
    if (wake.leases.length > 0) return
    wake.cancel()
    this.#wakes.delete(wakesAt)
  }

  /**
   * Wakes the leases in this turn, because a turn of a busy event loop can take longer than a heartbeat. After a blocked
   * event loop, thousands of instants come at once: they are taken together, so that their requests are sent together. If
   * one turn has no room for all leases, the turns after it wake the others.
   */
  #onTimer(instant: number): void {
    if (publishers.stall.isOn) publishStall(this.#clock.now() - instant)
    this.#takeDue(instant)
    if (this.#room > 0) this.#wakeDue()
  }

  #takeDue(first: number): void {
    const last = Math.min(this.#clock.now(), first + LONGEST_LATE)
    // The first has come, even if its timer was early.
    let instant = first
    do {
      const wake = this.#wakes.get(instant)
      if (wake?.isDue === false) {
        wake.isDue = true
        wake.cancel()
        this.#due.push(instant)
      }
      instant += 1
    } while (instant <= last && instant > first)
  }

  #beginTurn(): void {
    if (this.#isTurnOpen) return
    this.#isTurnOpen = true
    this.#clock.schedule(0, () => {
      this.#isTurnOpen = false
      this.#room = LARGEST_TURN
      if (this.#due.length > 0) this.#wakeDue()
    })
  }

  #wakeDue(): void {
    this.#beginTurn()
    const woken: GroupMember[] = []
    for (let instant = this.#due[0]; instant !== undefined && woken.length < this.#room; instant = this.#due[0]) {
      const leases = this.#wakes.get(instant)?.leases ?? []
      woken.push(...leases.splice(woken.length - this.#room))
      if (leases.length > 0) break
      this.#wakes.delete(instant)
      this.#due.shift()
    }
    this.#room -= woken.length
    for (const lease of woken) lease.wakesAt = Number.POSITIVE_INFINITY
    for (const lease of woken) lease.onTimer()
  }

  #arm(within: number): void {
    const unarmed = this.#unarmed.get(within)
    this.#unarmed.delete(within)
    const now = this.#clock.now()
    for (const lease of unarmed ?? []) lease.arm(now)
  }
}

/** A timer came late. */
function publishStall(lateness: number): void {
  if (lateness > LATE) publishers.stall.publish({ lateness })
}

interface Wake {
  readonly leases: GroupMember[]
  /** Whether its instant has come. */
  isDue: boolean
  cancel: () => void
}

const phase = Symbol('leasehold.phase')

/**
 * The instant from which the shared instants of a clock are counted, in milliseconds. It is random, because a machine's
 * clock counts from the start of the process: processes that were started together would send their heartbeats in the same
 * milliseconds for ever. The clock carries it, so that the leases of all stores wake the process together.
 */
function phaseOf(clock: Clock & { readonly [phase]?: number }, random: () => number): number {
  const known = clock[phase]
  if (known !== undefined) return known
  const drawn = Math.floor(random() * LONGEST_FORWARD)
  if (Object.isExtensible(clock)) Object.defineProperty(clock, phase, { value: drawn })
  return drawn
}

const groups = Symbol('leasehold.groups')

interface Grouped {
  [groups]?: WeakMap<Clock, LeaseGroup>
}

/**
 * The group of the leases of this store with this clock. The leases of a store are created one by one and nothing else
 * knows all of them, so the store itself carries their groups. Leases of a frozen store share nothing. `random` is drawn for
 * the first lease of a clock.
 */
export function groupOf(store: LeaseStore & Grouped, clock: Clock, random: () => number): LeaseGroup {
  const known = groupsOf(store)
  let group = known?.get(clock)
  if (group === undefined) {
    group = new LeaseGroup(store, guardClock(clock, reportOnce()), phaseOf(clock, random))
    known?.set(clock, group)
  }
  return group
}

/** Returns `wrapper`, a view of the store for one lease: that lease is in the same groups as the other leases of the store. */
export function inGroupsOf<S extends LeaseStore>(store: LeaseStore, wrapper: S): S {
  const known = groupsOf(store)
  return known === undefined ? wrapper : Object.defineProperty(wrapper, groups, { value: known })
}

function groupsOf(store: LeaseStore & Grouped): WeakMap<Clock, LeaseGroup> | undefined {
  if (store[groups] === undefined && Object.isExtensible(store)) {
    Object.defineProperty(store, groups, { value: new WeakMap() })
  }
  return store[groups]
}

/** Leases report the faults of their clock themselves; for the timers that they share, one warning is enough. */
function reportOnce(): (error: unknown) => void {
  let isReported = false
  return (error) => {
    if (!isReported) defaultLogger.error('the clock of a lease failed', error)
    isReported = true
  }
}
