import {
  type Clock,
  createLease,
  defaultLogger,
  LeaseConfigurationError,
  type LeaseStore,
  systemClock,
  TimeoutSettings,
} from '@leasehold/core'
import {
  AbortableCall,
  checkLeaseName,
  checkOptionNames,
  keptAlive,
  type OptionNames,
  systemRandom,
} from '@leasehold/core/store'
import { InFlight } from '../in-flight.js'
import { roomOf } from '../metadata-room.js'
import { RecipeEvents } from '../recipe-events.js'
import {
  checkKeepAlive,
  leaseOptionsOf,
  type StartedRecipeOptions,
  startedRecipeOptionNames,
} from '../recipe-options.js'
import { callGuarded, report } from '../report.js'
import { StoreOutage } from '../store-outage.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { Assignment, type AssignmentContext, type PartitionWork } from './assignment.js'
import { decide, type Member } from './balance.js'
import { Membership } from './membership.js'
import { largestGroup, type Share } from './share.js'

export type { AssignedPartition, PartitionWork } from './assignment.js'

export interface PartitionGroupOptions extends StartedRecipeOptions {
  /**
   * The number of partitions, the same for all workers: they have the numbers from 0 on. While workers with two numbers run,
   * such as during a deployment, each partition has one owner among the workers that know it.
   */
  readonly partitions: number
  /**
   * Called when this worker becomes the owner of a partition. Return a promise that settles when the work on it has ended,
   * soon after the signal has aborted. A partition whose work rejects is released, and claimed again in the next round.
   */
  readonly onAssigned: PartitionWork
  /** For how long the work on a partition may go on after its signal has aborted, in milliseconds; 30 s unless given. */
  readonly drainTimeout?: number | undefined
  /** The time between two rounds, in milliseconds: in each, the worker looks at the group. The heartbeat interval unless given. */
  readonly rebalanceInterval?: number | undefined
}

/** The events of a `PartitionGroup`, and their arguments. */
export interface PartitionGroupEvents {
  /** A running worker has another number of partitions: once for each number, until no worker has it any more. */
  differs: [partitions: number]
}

export type PartitionGroupListener<E extends keyof PartitionGroupEvents> = (...args: PartitionGroupEvents[E]) => void

const optionNames: OptionNames<PartitionGroupOptions> = {
  ...startedRecipeOptionNames,
  partitions: true,
  onAssigned: true,
  drainTimeout: true,
  rebalanceInterval: true,
}

const DEFAULT_DRAIN_TIMEOUT = 30_000

/** The most requests to the store that one group has under way, and the most claims that wait. */
const MOST_REQUESTS = 64

/**
 * One worker of a group that shares P partitions. Workers come and go; each owns a fair share.
 *
 * Guaranteed: each partition is a lease of its own, so at most one worker's `checkLease` is true for it at any time. A
 * later owner has a larger fencing token, and finds the last position that was saved. Within a few rounds after the last
 * worker came or went, each partition that a worker knows has an owner, and the shares differ by at most 1, as far as the
 * workers know the same partitions. While they do, no partition moves. Partitions of a worker that died are taken over when
 * its leases have expired.
 *
 * Not guaranteed: that each event of a partition is processed once. An owner that dies has processed more than it saved,
 * and work that ignores its signal can overlap with the next owner's: check the fencing token where the work writes.
 *
 * Needs a store that lists leases and keeps metadata.
 */
export class PartitionGroup implements AsyncDisposable {
  /** The owner of the leases of this worker. */
  readonly owner: string
  readonly #options: PartitionGroupOptions
  readonly #operationTimeout: number
  readonly #membership: Membership
  readonly #context: AssignmentContext
  /** The claims and the partitions of this worker, by partition: the oldest first. */
  readonly #assignments = new Map<number, Assignment>()
  readonly #rounds = new AbortableCall()
  /** The partitions that this worker claims. */
  #claims: readonly number[] = []
  readonly #events: RecipeEvents<PartitionGroupEvents>
  /** Those of the workers that were seen in the last round. */
  #otherNumbers: ReadonlySet<number> = new Set()
  #running: Promise<void> | undefined
  #stopping: Promise<void> | undefined

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid, or the store lacks an ability. */
  constructor(store: LeaseStore, options: PartitionGroupOptions) {
    const { name, clock = systemClock, drainTimeout = DEFAULT_DRAIN_TIMEOUT, random = systemRandom } = options
    checkOptionNames('PartitionGroup', options, optionNames, { leaseName: name })
    checkLeaseName(name)
    checkKeepAlive(options)
    const timeouts = new TimeoutSettings(leaseOptionsOf(options))
    const { rebalanceInterval = timeouts.heartbeatInterval, partitions } = options
    checkStore(store, name)
    checkOptions(store, { ...options, drainTimeout, rebalanceInterval }, timeouts)
    this.#options = options
    this.#operationTimeout = timeouts.operationTimeout
    this.#events = new RecipeEvents(`partitions of '${name}'`, options.logger, (event, error) =>
      this.#report(`a listener of '${event}' failed`, error),
    )
    // One owner for all leases of this worker.
    this.owner = createLease(store, name, leaseOptionsOf(options)).settings.owner
    const leaseOptions = { ...leaseOptionsOf(options), owner: this.owner }
    this.#context = {
      store,
      name,
      leaseOptions,
      clock,
      work: options.onAssigned,
      drainTimeout,
      interval: rebalanceInterval,
      waits: new InFlight(MOST_REQUESTS),
      requests: new InFlight(MOST_REQUESTS),
      claims: this.#createOutage(clock),
      keepAlive: options.keepAlive ?? true,
      report: (message, error) => this.#report(message, error),
    }
    const { operationTimeout } = timeouts
    const memberOptions = { ...leaseOptions, operationTimeout, maxHold: undefined }
    this.#membership = new Membership({ store, name, partitions, leaseOptions: memberOptions, clock, random })
  }

  /** The numbers of the partitions that this worker owns now, in order, with those that it is handing over. */
  get assigned(): readonly number[] {
    const { held, draining } = this.#share
    return [...held, ...draining].sort((one, other) => one - other)
  }

  on<E extends keyof PartitionGroupEvents>(event: E, listener: PartitionGroupListener<E>): this {
    this.#events.on(event, listener)
    return this
  }

  off<E extends keyof PartitionGroupEvents>(event: E, listener: PartitionGroupListener<E>): this {
    this.#events.off(event, listener)
    return this
  }

  /** Joins the group. Its first partitions come a round later, when it has seen the other workers. */
  start(): void {
    if (this.#stopping === undefined)
      this.#running ??= keptAlive(this.#context.clock, this.#run(), this.#options.keepAlive)
  }

  /**
   * Leaves the group: drains and hands over all partitions. Resolves when that is done, `drainTimeout` and three operation
   * timeouts later at the latest. Never rejects. A stopped group is not started again.
   */
  stop(): Promise<void> {
    this.#stopping ??= keptAlive(this.#context.clock, this.#stop())
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #run(): Promise<void> {
    const { random = systemRandom } = this.#options
    const { clock, interval } = this.#context
    const outage = this.#createOutage(clock)
    while (!this.#rounds.aborted) {
      try {
        await this.#round()
        outage.onAnswer()
      } catch (error) {
        if (!this.#rounds.aborted) outage.onFailure('a round failed', error)
      }
      // Jitter, so that workers that started together do not ask the store together.
      await pauseUntil(clock, interval * (0.9 + 0.2 * random()), this.#rounds)
    }
  }

  async #round(): Promise<void> {
    const { signal } = this.#rounds
    if (!this.#membership.isMember) {
      await this.#membership.join(this.#share, signal)
      return
    }
    const others = await this.#membership.others(signal)
    if (signal.aborted) return
    this.#noteNumbers(others)
    const { partitions } = this.#options
    const self = { place: this.#membership.place, partitions, isLeaving: false, share: this.#share }
    const { claim, giveUp } = decide(self, others)
    this.#claims = claim
    const claimed = new Set(claim)
    for (const assignment of this.#assignments.values()) {
      if (assignment.state === 'claiming' && !claimed.has(assignment.partition)) assignment.giveUp()
    }
    for (const partition of giveUp) this.#assignments.get(partition)?.giveUp()
    for (const partition of claim) if (!this.#assignments.has(partition)) this.#assign(partition)
    this.#show(false)
  }

  /** Reports each other number of partitions once, until no worker has it any more. */
  #noteNumbers(others: readonly Member[]): void {
    const { name, partitions, logger = defaultLogger } = this.#options
    const found = new Set(others.map((other) => other.partitions).filter((number) => number !== partitions))
    for (const number of found) {
      if (this.#otherNumbers.has(number)) continue
      const message =
        `partitions of '${name}': this worker has ${partitions} partitions, and another one has ${number}: ` +
        `only workers that have ${Math.max(partitions, number)} own those from ${Math.min(partitions, number)} on`
      callGuarded(
        () => logger.warn(message),
        () => defaultLogger.warn(message),
      )
      this.#events.emit('differs', number)
    }
    this.#otherNumbers = found
  }

  #assign(partition: number): void {
    const assignment = new Assignment(partition, this.#context)
    this.#assignments.set(partition, assignment)
    void assignment.ended.then(() => this.#assignments.delete(partition))
  }

  get #share(): Share {
    const held: number[] = []
    const draining: number[] = []
    for (const { partition, state } of this.#assignments.values()) {
      if (state === 'held') held.push(partition)
      else if (state === 'draining') draining.push(partition)
    }
    const taken = new Set([...held, ...draining])
    return { held, draining, claimed: this.#claims.filter((partition) => !taken.has(partition)) }
  }

  /** The record is written in the background: a write that is not confirmed is repeated in the next round. */
  #show(isLeaving: boolean): void {
    this.#membership.show(this.#share, isLeaving).catch((error) => this.#report('the share could not be shown', error))
  }

  async #stop(): Promise<void> {
    this.#rounds.abort(new Error('the group was stopped'))
    this.#claims = []
    const { clock, drainTimeout } = this.#context
    await endsWithin(clock, drainTimeout + 3 * this.#operationTimeout, this.#leave())
  }

  async #leave(): Promise<void> {
    for (const assignment of this.#assignments.values()) assignment.giveUp()
    if (this.#membership.isMember) this.#show(true)
    await Promise.all([...this.#assignments.values()].map(({ ended }) => ended))
    await this.#running
    await this.#membership.leave().catch((error) => this.#report('the place in the group could not be released', error))
  }

  #createOutage(clock: Clock): StoreOutage {
    const { name, logger = defaultLogger } = this.#options
    return new StoreOutage(clock, (line) => report(logger, 'warn', `partitions of '${name}': ${line}`, undefined))
  }

  #report(message: string, error: unknown): void {
    const { name, logger = defaultLogger } = this.#options
    report(logger, 'error', `partitions of '${name}': ${message}`, error)
  }
}

function checkStore(store: LeaseStore, leaseName: string): void {
  const { kind = 'custom', limits, list, update } = Object(store) as LeaseStore
  const details = { leaseName, store: kind }
  if (list === undefined) {
    const message = `the ${kind} store cannot list leases, so the workers of '${leaseName}' cannot find each other`
    throw new LeaseConfigurationError(`${message}: use a store with list(), such as redis or local`, details)
  }
  if (update !== undefined && limits?.metadata !== 0) return
  const message = `the records of the ${kind} store have no room for metadata, which the workers of '${leaseName}' need`
  throw new LeaseConfigurationError(`${message}: use a store with update(), such as redis or local`, details)
}

function checkOptions(store: LeaseStore, options: PartitionGroupOptions, { heartbeatTimeout }: TimeoutSettings): void {
  const { name, partitions, onAssigned, drainTimeout, rebalanceInterval } = options
  const details = { leaseName: name, store: store.kind ?? 'custom' }
  const fail = (message: string): never => {
    throw new LeaseConfigurationError(message, details)
  }
  const largest = largestGroup(roomOf(store))
  if (!(Number.isSafeInteger(partitions) && partitions >= 1)) {
    fail(`partitions must be a whole number of 1 or more, not ${String(partitions)}`)
  }
  if (partitions > largest) {
    fail(`partitions is ${partitions}, but a record of this store has room for ${largest}: form several groups`)
  }
  if (typeof onAssigned !== 'function') fail(`onAssigned must be a function, not ${typeof onAssigned}`)
  if (!(isFiniteNumber(drainTimeout) && drainTimeout >= 0)) {
    fail(`drainTimeout must be a finite number of milliseconds, 0 or more, not ${String(drainTimeout)}`)
  }
  if (!(isFiniteNumber(rebalanceInterval) && rebalanceInterval > 0)) {
    fail(`rebalanceInterval must be a positive, finite number of milliseconds, not ${String(rebalanceInterval)}`)
  }
  if (options.strategy === 'manual') {
    fail("strategy must not be 'manual': the group renews its leases by itself")
  }
  if (heartbeatTimeout === Number.POSITIVE_INFINITY) {
    fail('heartbeatTimeout must be finite: the partitions of a dead worker are free only when its leases have expired')
  }
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
