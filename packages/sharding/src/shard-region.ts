import { type Health, healthOf, LeaseConfigurationError, type LeaseStore, TimeoutSettings } from '@leasehold/core'
import { guardRandom, health, healthFrom, logSafely } from '@leasehold/core/internal'
import { systemRandom } from '@leasehold/core/store-kit'
import { type AssignedPartition, PartitionGroup, type RecipeEvents } from '@leasehold/recipes'
import { leaseOptionsOf, OuterRecipe } from '@leasehold/recipes/internal'
import type { AnyActorLogic, EventFromLogic } from 'xstate'
import { Dispatcher } from './dispatcher.js'
import { closeState, type EntityState } from './entity-state.js'
import { GroupDirectory } from './group-directory.js'
import { type AskOptions, RegionCore, type TellOptions, type TellOutcome } from './region-core.js'
import { checkRegionOptions, type ShardRegionOptions } from './shard-region-options.js'

/** The longest time between two looks at the records, in milliseconds, unless an option says otherwise. */
const LONGEST_LOOK = 1_000

/** The events of a `ShardRegion`, and their arguments. */
export interface ShardRegionEvents extends RecipeEvents {
  /** This process has taken a shard, or has handed it over or lost it. */
  shard: [change: { readonly shard: number; readonly state: 'taken' | 'gone' }]
}

/**
 * Entities, which are actors that are addressed by their ids, spread over the processes of a region.
 *
 * Guaranteed: an entity handles an event only while this process holds the lease of its shard, so no two processes handle
 * events of one entity at the same time, as far as clocks go; its snapshot is written under the fencing token of the lease,
 * so none of a process that has lost the lease replaces that of the next one. The events of one process for one entity are
 * handled in their order. An event at most once is handled once or not at all. An event at least once is repeated until it
 * is confirmed, for `holdFor` at most, and handled once in the lifetime of the snapshot, as far as it is among the last
 * 1,000. An answer, and the confirmation of an event at least once, leave only after the effect of the event is saved.
 *
 * Not guaranteed: that an effect outside of the entity, such as a request to another service, happens once. Timers of an
 * entity, and the actors that it has invoked, end when its shard moves.
 *
 * Events and answers must be what JSON can carry. An entity in the same process gets a copy, too.
 */
export class ShardRegion<Logic extends AnyActorLogic = AnyActorLogic> extends OuterRecipe<ShardRegionEvents> {
  readonly #name: string
  readonly #shards: number
  readonly #isHost: boolean
  readonly #group: PartitionGroup
  readonly #directory: GroupDirectory
  readonly #core: RegionCore
  readonly #closeTimeout: number
  readonly #state: EntityState | undefined
  readonly #address: () => string
  #listening: Promise<void> | undefined
  /** Why this process must not run entities. */
  #fault: LeaseConfigurationError | undefined

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid, or the store lacks an ability. */
  constructor(store: LeaseStore, options: ShardRegionOptions<Logic>) {
    const { name, shards, transport, random = systemRandom } = options
    checkRegionOptions(store, options)
    super('shard region', store, options)
    const { clock } = this
    const leaseOptions = leaseOptionsOf(options)
    const { operationTimeout, heartbeatTimeout, heartbeatInterval } = new TimeoutSettings(leaseOptions)
    const { host = true, rebalanceInterval = Math.min(heartbeatInterval, LONGEST_LOOK) } = options
    this.#name = name
    this.#isHost = host
    this.#shards = shards
    this.#closeTimeout = operationTimeout
    this.#state = options.state?.forRegion?.(name) ?? options.state
    this.#address = () => transport.address
    this.#group = this.#groupOf(store, { ...options, rebalanceInterval })
    const guarded = guardRandom(random, (error) => this.report(error, 'random failed'))
    this.#directory = new GroupDirectory({
      read: () => this.#group.members(),
      clock,
      random: guarded,
      pause: Math.min(rebalanceInterval, LONGEST_LOOK),
      report: (error) => this.report(error, 'the records of the group could not be read'),
    })
    this.#group.on('members', (members) => {
      this.#directory.update(members)
      this.#core.publish()
    })
    this.#core = new RegionCore({
      name,
      owner: this.#group.owner,
      shards,
      transport,
      directory: this.#directory,
      clock,
      random: guarded,
      deliver: options.deliver ?? 'at-most-once',
      capacity: options.capacity ?? 10_000,
      holdFor: options.holdFor ?? 2 * heartbeatTimeout,
      sendTimeout: operationTimeout,
      drainTimeout: this.stopTimeout,
      passivateAfter: options.passivateAfter ?? Number.POSITIVE_INFINITY,
      entities: {
        logic: options.entity,
        dispatcher: new Dispatcher(clock),
        state: this.#state,
        version: options.version ?? 1,
        migrate: options.migrate,
        mailbox: options.mailbox ?? 1_000,
        stateTimeout: 2 * operationTimeout,
        report: this.report,
      },
      onDropped: (count, reason) => this.reportLine(`${count} events were dropped: ${reason}`),
      onOutage: (error, address) =>
        logSafely(this.logger, 'debug', `shard region '${name}': no answer from ${address}`, error),
    })
  }

  /** The numbers of the shards that this process owns now, in order, with those that it is handing over. */
  get owned(): readonly number[] {
    return this.#group.assigned
  }

  /** The number of entities that run in this process. */
  get entities(): number {
    return this.#core.entities
  }

  /**
   * Takes part in the region, until `stop()`. Resolves when other processes can reach this one; the first shards come later.
   * Rejects if the address of the transport cannot be used; then it may be called again. Rejects with a
   * `LeaseUnavailableError` after a `stop()`.
   */
  override start(): Promise<void> {
    if (this.closed.aborted) return Promise.reject(this.closed.reason)
    this.#listening ??= this.#begin()
    const listening = this.#listening
    // It is reported, and need not be awaited.
    listening.catch(() => {})
    return listening
  }

  /**
   * Sends an event to an entity, wherever it is. The promise never rejects, and need not be awaited. It resolves `delivered` when
   * the event is in the queue of the entity, or, at least once, when it was handled and saved; `not-delivered` when the entity
   * certainly did not get it; `unknown` when it may have, or may still. Throws a `LeaseConfigurationError`, and sends nothing,
   * if JSON cannot carry the event, or the id or an option is invalid.
   */
  tell(id: string, event: EventFromLogic<Logic>, options?: TellOptions): Promise<TellOutcome> {
    return this.#core.tell(id, event, options)
  }

  /**
   * Sends an event to an entity, at most once, and resolves with what the entity gives to `event.reply`, after that is saved.
   * Rejects with a `NotDeliveredError` if the entity certainly did not get the event, with an `OutcomeUnknownError` if it may
   * have, and with a `LeaseConfigurationError` as `tell` does.
   */
  ask<Answer = unknown>(id: string, event: EventFromLogic<Logic>, options?: AskOptions): Promise<Answer> {
    return this.#core.ask<Answer>(id, event, options)
  }

  /** See `healthOf`: unhealthy as its `PartitionGroup` is, and while it must not run entities. */
  [health](): Health {
    const { reason, details } = healthOf(this.#group)
    return healthFrom(this.#fault?.message ?? reason, { ...details, entities: this.entities, held: this.#core.kept })
  }

  /** Called by the base class, once it has started. */
  protected override async act(): Promise<void> {
    if (this.#isHost) this.#group.start()
    await new Promise<void>((resolve) => this.stopping.onAbort(resolve))
  }

  /** Drains and hands over all shards, then sends what is on its way, and closes the transport. Never rejects. */
  protected override async end(timeout: number): Promise<void> {
    await this.#listening?.catch(() => {})
    await this.#group.stop({ timeout }).catch((error) => this.report(error, 'the group could not be stopped'))
    this.#directory.close()
    const left = Math.min(timeout, this.#closeTimeout)
    await this.#core.close(left).catch((error) => this.report(error, 'the transport could not be closed'))
    await closeState(this.#state, this.report)
  }

  async #begin(): Promise<void> {
    try {
      await this.#core.listen()
    } catch (error) {
      this.report(error, 'the address of the transport cannot be used')
      this.#listening = undefined
      throw error
    }
    if (!this.stopping.aborted) super.start()
  }

  #groupOf(store: LeaseStore, options: ShardRegionOptions<Logic>): PartitionGroup {
    const { shards, stopTimeout, keepAlive, rebalanceInterval, name } = options
    const group = new PartitionGroup(store, {
      ...leaseOptionsOf(options),
      name,
      partitions: shards,
      stopTimeout,
      keepAlive,
      rebalanceInterval,
      metadata: () => ({
        address: this.#address(),
        entities: String(this.#core.entities),
        moves: String(this.#core.moves),
      }),
      onAssigned: (assigned) => this.#own(assigned),
    })
    return group
      .on('error', (error) => this.report(error))
      .on('unreachable', (outage) => this.emit('unreachable', outage))
      .on('reachable', () => this.emit('reachable'))
      .on('differs', (number) => this.#onOtherNumber(number))
  }

  async #own(assigned: AssignedPartition): Promise<void> {
    if (this.#fault !== undefined) throw this.#fault
    const { partition: shard, signal, fencingToken } = assigned
    this.emit('shard', { shard, state: 'taken' })
    try {
      await this.#core.own({ shard, signal, fencingToken, checkLease: () => assigned.checkLease() })
    } finally {
      this.emit('shard', { shard, state: 'gone' })
    }
  }

  /**
   * With another number of shards, an entity is in another shard: two processes could run it. The process that came later
   * has no shard yet, and leaves.
   */
  #onOtherNumber(number: number): void {
    if (this.#core.moves > 0 || this.#fault !== undefined) return
    const message =
      `region '${this.#name}' has ${this.#shards} shards here, and ${number} in another process: give all processes the same ` +
      'number; to change it, stop them all first'
    this.#fault = new LeaseConfigurationError(message, { leaseName: this.#name })
    this.report(this.#fault)
    // After the round that has seen it.
    queueMicrotask(() => void this.#group.stop().catch((error) => this.report(error)))
  }
}
