import {
  createLease,
  type Health,
  LeaseConfigurationError,
  type LeaseStore,
  type Metadata,
  TimeoutSettings,
} from '@leasehold/core'
import { checkFault, checkWork, faultOfInterval, health, healthFrom, logSafely, roomOf } from '@leasehold/core/internal'
import { checkLeaseName } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames, systemRandom } from '@leasehold/core/store-kit'
import { InFlight } from '../in-flight.js'
import { checkMetadataRoom } from '../metadata-room.js'
import { type RecipeEvents, StartedRecipe } from '../recipe.js'
import { recipePublishers } from '../recipe-channels.js'
import { leaseOptionsOf, type StartedRecipeOptions, startedRecipeOptionNames } from '../recipe-options.js'
import { StoreOutage } from '../store-outage.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { Assignment, type AssignmentContext, type PartitionWork } from './assignment.js'
import { decide, type Member } from './balance.js'
import {
  checkMemberMetadata,
  type GroupMember,
  groupMember,
  type MemberMetadata,
  readPartitionGroup,
  type SeenMember,
} from './group-member.js'
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
  /** The time between two rounds, in milliseconds: in each, the worker looks at the group. The heartbeat interval unless given. */
  readonly rebalanceInterval?: number | undefined
  /**
   * Shown to everyone who reads the members of the group, such as the address of this worker. A function is called in each round,
   * and must return the metadata at once. If it throws, or if there is no room for what it returns, the group emits an `error`
   * and still shows the last metadata.
   */
  readonly metadata?: MemberMetadata | undefined
}

/** The events of a `PartitionGroup`, and their arguments. */
export interface PartitionGroupEvents extends RecipeEvents {
  /** A running worker has another number of partitions: once for each number, until no worker has it any more. */
  differs: [partitions: number]
  /** A round is over: every member of the group as this worker has seen it, this worker too. */
  members: [members: readonly GroupMember[]]
}

const optionNames: OptionNames<PartitionGroupOptions> = {
  ...startedRecipeOptionNames,
  partitions: true,
  onAssigned: true,
  rebalanceInterval: true,
  metadata: true,
}

/** How long a grant waits for others before the record shows it, in milliseconds: one write then shows them all. */
const SHOW_PAUSE = 20

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
export class PartitionGroup extends StartedRecipe<PartitionGroupEvents> {
  /** The owner of the leases of this worker. */
  readonly owner: string
  readonly #options: PartitionGroupOptions
  readonly #operationTimeout: number
  readonly #ttl: number
  readonly #membership: Membership
  readonly #context: AssignmentContext
  /** The claims and the partitions of this worker, by partition: the oldest first. */
  readonly #assignments = new Map<number, Assignment>()
  /** The partitions that this worker claims. */
  #claims: readonly number[] = []
  /** The other numbers of partitions that workers had in the last round. */
  #otherNumbers: ReadonlySet<number> = new Set()
  #leaving: Promise<void> | undefined
  /** The last valid metadata of this worker. */
  #metadata: Metadata = {}
  /** Why the metadata could not be read in the last round. */
  #metadataFault: string | undefined
  /** Whether the share is being shown between two rounds. */
  #isShowing = false
  #hasChanged = false

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid, or the store lacks an ability. */
  constructor(store: LeaseStore, options: PartitionGroupOptions) {
    const { name, random = systemRandom } = options
    checkOptionNames('PartitionGroup', options, optionNames, { leaseName: name })
    checkLeaseName(name)
    super('partition group', store, options)
    const { clock } = this
    const timeouts = new TimeoutSettings(leaseOptionsOf(options))
    const { rebalanceInterval = timeouts.heartbeatInterval, partitions } = options
    checkStore(store, name)
    checkOptions(store, { ...options, rebalanceInterval }, timeouts)
    this.#options = options
    this.#operationTimeout = timeouts.operationTimeout
    this.#ttl = timeouts.heartbeatTimeout
    // One owner for all leases of this worker.
    this.owner = createLease(store, name, leaseOptionsOf(options)).settings.owner
    const leaseOptions = { ...leaseOptionsOf(options), owner: this.owner }
    this.#context = {
      store,
      name,
      leaseOptions,
      clock,
      work: options.onAssigned,
      stopTimeout: this.stopTimeout,
      interval: rebalanceInterval,
      waits: new InFlight(MOST_REQUESTS),
      requests: new InFlight(MOST_REQUESTS),
      claims: new StoreOutage(clock, this.reportLine),
      keepAlive: this.keepAlive,
      report: this.report,
      onHeld: () => void this.#showChanges(),
    }
    const { operationTimeout } = timeouts
    const memberOptions = { ...leaseOptions, operationTimeout, maxHold: undefined }
    const metadata = (): Metadata => this.#metadata
    this.#membership = new Membership({ store, name, partitions, leaseOptions: memberOptions, clock, random, metadata })
  }

  /** The numbers of the partitions that this worker owns now, in order, with those that it is handing over. */
  get assigned(): readonly number[] {
    const { held, draining } = this.#share
    return [...held, ...draining].sort((one, other) => one - other)
  }

  /**
   * The members of the group, read from the store now: also before `start()` and after `stop()`. See `readPartitionGroup`.
   */
  members(): Promise<readonly GroupMember[]> {
    const { store, name } = this.#context
    return readPartitionGroup(store, name, { clock: this.clock, timeout: this.#operationTimeout })
  }

  /**
   * See `healthOf`: unhealthy with the first unhealthy lease, while work that lost its partition goes on, and when the store
   * has failed for longer than a ttl.
   */
  [health](): Health {
    const subjects = [this.#membership.health, ...[...this.#assignments.values()].map((one) => one.health)]
    const reason = subjects.find((one) => one?.healthy === false)?.reason ?? this.outageAilment(this.#ttl)
    return healthFrom(reason, { owner: this.owner, assigned: this.assigned, isMember: this.#membership.isMember })
  }

  /** @internal The first partitions come a round after the start, when the worker has seen the others. */
  protected override async act(): Promise<void> {
    const { random = systemRandom } = this.#options
    while (!this.stopping.aborted) {
      try {
        await this.#round()
        this.outage.onAnswer()
      } catch (error) {
        if (!this.stopping.aborted) this.outage.onFailure('a round failed', error)
      }
      // Jitter, so that workers that started together do not ask the store together.
      await pauseUntil(this.clock, this.#context.interval * (0.9 + 0.2 * random()), this.stopping)
    }
  }

  /** @internal Drains and hands over all partitions, within three operation timeouts after `timeout`. Never rejects. */
  protected override async end(timeout: number): Promise<void> {
    this.#claims = []
    this.#leaving ??= this.#leave(timeout)
    await endsWithin(this.clock, timeout + 3 * this.#operationTimeout, this.#leaving)
  }

  async #round(): Promise<void> {
    const { signal } = this.stopping
    this.#readMetadata()
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
    void this.#show(false)
    if (recipePublishers.partitions.isOn) this.#publish(others)
    const { owner } = this
    const seen: SeenMember[] = [...others, { ...self, share: this.#share, owner, metadata: this.#metadata }]
    this.emit('members', seen.sort((one, other) => one.place - other.place).map(groupMember))
  }

  #readMetadata(): void {
    const { metadata = {}, partitions } = this.#options
    const { store, name: leaseName } = this.#context
    try {
      const read = typeof metadata === 'function' ? metadata() : metadata
      checkMemberMetadata(read, partitions, store, { leaseName, owner: this.owner })
      this.#metadata = { ...read }
      this.#metadataFault = undefined
    } catch (error) {
      // The same failure in each round is reported once.
      const fault = String(error)
      if (fault !== this.#metadataFault) this.report(error, 'its metadata could not be shown')
      this.#metadataFault = fault
    }
  }

  #publish(others: readonly Member[]): void {
    const { owner } = this
    const { name: group, partitions } = this.#options
    const { held, claimed, draining } = this.#share
    const shares = [{ held, draining }, ...others.map(({ share }) => share)]
    const owned = new Set(shares.flatMap((share) => [...share.held, ...share.draining]))
    const message = { wanted: held.length + claimed.length, held: held.length + draining.length }
    recipePublishers.partitions.publish({ group, owner, ...message, unowned: Math.max(0, partitions - owned.size) })
  }

  /** Reports each other number of partitions once, until no worker has it any more. */
  #noteNumbers(others: readonly Member[]): void {
    const { name, partitions } = this.#options
    const found = new Set(others.map((other) => other.partitions).filter((number) => number !== partitions))
    for (const number of found) {
      if (this.#otherNumbers.has(number)) continue
      const message =
        `partition group '${name}': this worker has ${partitions} partitions, and another one has ${number}: ` +
        `only workers that have ${Math.max(partitions, number)} own those from ${Math.min(partitions, number)} on`
      logSafely(this.logger, 'warn', message)
      this.emit('differs', number)
    }
    this.#otherNumbers = found
  }

  #assign(partition: number): void {
    const assignment = new Assignment(partition, this.#context)
    this.#assignments.set(partition, assignment)
    void assignment.ended.then(() => {
      this.#assignments.delete(partition)
      void this.#showChanges()
    })
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
  async #show(isLeaving: boolean): Promise<void> {
    try {
      await this.#membership.show(this.#share, isLeaving)
    } catch (error) {
      this.report(error, 'the share could not be shown')
    }
  }

  /** Shows changes before the next round to those who look for the owners: a worker without metadata has nothing for them. */
  async #showChanges(): Promise<void> {
    this.#hasChanged = true
    if (this.#isShowing || this.#options.metadata === undefined) return
    this.#isShowing = true
    while (this.#hasChanged && !this.stopping.aborted) {
      await pauseUntil(this.clock, SHOW_PAUSE, this.stopping)
      this.#hasChanged = false
      if (!this.stopping.aborted && this.#membership.isMember) await this.#show(false)
    }
    this.#isShowing = false
  }

  async #leave(timeout: number): Promise<void> {
    for (const assignment of this.#assignments.values()) assignment.giveUp(timeout)
    if (this.#membership.isMember) void this.#show(true)
    await Promise.all([...this.#assignments.values()].map(({ ended }) => ended))
    await this.running
    await this.#membership.leave().catch((error) => this.report(error, 'the place in the group could not be released'))
  }
}

function checkStore(store: LeaseStore, leaseName: string): void {
  const { kind = 'custom', list } = Object(store) as LeaseStore
  if (list === undefined) {
    const message = `the ${kind} store cannot list leases, so the workers of '${leaseName}' cannot find each other`
    const details = { leaseName, store: kind }
    throw new LeaseConfigurationError(`${message}: use a store with list(), such as redis or local`, details)
  }
  checkMetadataRoom('PartitionGroup', store, {}, 'to share the partitions', { leaseName })
}

function checkOptions(store: LeaseStore, options: PartitionGroupOptions, { heartbeatTimeout }: TimeoutSettings): void {
  const { name, partitions, onAssigned, rebalanceInterval, metadata } = options
  const details = { leaseName: name, store: store.kind ?? 'custom' }
  const fail = (message: string): never => {
    throw new LeaseConfigurationError(message, details)
  }
  const largest = largestGroup(roomOf(store.limits))
  if (!(Number.isSafeInteger(partitions) && partitions >= 1)) {
    fail(`partitions must be a whole number of 1 or more, not ${String(partitions)}`)
  }
  if (partitions > largest) {
    fail(`partitions is ${partitions}, but a record of this store has room for ${largest}: form several groups`)
  }
  checkWork('onAssigned', onAssigned, details)
  if (metadata !== undefined && typeof metadata !== 'function')
    checkMemberMetadata(metadata, partitions, store, details)
  checkFault(faultOfInterval('rebalanceInterval', rebalanceInterval), details)
  if (options.strategy === 'manual') {
    fail("strategy must not be 'manual': the group renews its leases by itself")
  }
  if (heartbeatTimeout === Number.POSITIVE_INFINITY) {
    fail('heartbeatTimeout must be finite: the partitions of a dead worker are free only when its leases have expired')
  }
}
