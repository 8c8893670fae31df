import {
  type Clock,
  type CreateLeaseOptions,
  createLease,
  type Health,
  healthOf,
  LeaseLostError,
  type LeaseStore,
  LeaseTimeoutError,
  type StoreHeld,
  type StoreLease,
} from '@leasehold/core'
import { extendHeld, heldOf } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { aborts } from '../first-abort.js'
import type { InFlight } from '../in-flight.js'
import { recipePublishers } from '../recipe-channels.js'
import { checkRecipe, ofRecipe } from '../record-kind.js'
import type { StoreOutage } from '../store-outage.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { partitionOf } from './group-member.js'

/** A partition that this worker owns, from its grant until it is handed over or lost. */
export interface AssignedPartition extends StoreHeld {
  readonly partition: number
  /**
   * Aborts when the work on the partition has to end. During a hand-over, the lease is still held until the work has ended,
   * for `stopTimeout` at most: `save` still works. After a loss, it is not. `signal.reason` is a `LeaseLostError` with the
   * reason: `released` for a hand-over.
   */
  readonly signal: AbortSignal
  /** Larger for every later owner of this partition. Send it with each write to the resource. */
  readonly fencingToken: bigint
  /** The position that the last owner saved, also if it crashed; `undefined` where none was ever saved. */
  readonly position: string | undefined
  /**
   * Keeps a position in the partition's record, for the next owner. Resolves `true`: written. `false`: the partition is no
   * longer held, and nothing of its present owner was changed. Rejects with a typed error if the store refuses it, for
   * example because it is too large.
   */
  save(position: string): Promise<boolean>
}

/** The work on a partition. */
export type PartitionWork = (assigned: AssignedPartition) => unknown

/** The parts of a group that its assignments share. */
export interface AssignmentContext {
  readonly store: LeaseStore
  /** The name of the group. */
  readonly name: string
  readonly leaseOptions: CreateLeaseOptions
  readonly clock: Clock
  readonly work: PartitionWork
  /** For how long the work on a partition may go on after it was given up. */
  readonly stopTimeout: number
  /** The pause between two attempts to claim a partition that is held. */
  readonly interval: number
  /** Claims that wait for their turn. */
  readonly waits: InFlight
  /** Other requests to the store. */
  readonly requests: InFlight
  /** Gets the claims that failed and are repeated. */
  readonly claims: StoreOutage
  readonly keepAlive: boolean
  readonly report: (error: unknown, message: string) => void
  /** A partition was granted. */
  readonly onHeld: () => void
}

/**
 * One partition at this worker: claimed, worked on, drained and released. It has a lease of its own, which is not acquired
 * again after its end.
 */
export class Assignment {
  readonly partition: number
  /** Resolves when the partition may be claimed again here: released, lost or given up, and no work on it is left. */
  readonly ended: Promise<void>
  readonly #context: AssignmentContext
  readonly #lease: StoreLease
  readonly #claiming = new AbortableCall()
  readonly #working = new AbortableCall()
  /** How long the work may go on after the end, in milliseconds, if that is not `stopTimeout`. */
  #limit: number | undefined
  #state: 'claiming' | 'held' | 'draining' | 'lost' = 'claiming'
  /** Settles when the work has ended, which may be after its time. */
  #worked: Promise<unknown> | undefined

  constructor(partition: number, context: AssignmentContext) {
    this.partition = partition
    this.#context = context
    const { store, name, leaseOptions } = context
    this.#lease = createLease(store, partitionOf(name, partition), leaseOptions)
    this.ended = this.#live()
  }

  get state(): 'claiming' | 'held' | 'draining' | 'lost' {
    return this.#state
  }

  get health(): Health {
    return healthOf(this.#lease)
  }

  /** Gives the partition up: a claim at once, a held partition when its work has ended, or has had its time. */
  giveUp(limit?: number): void {
    this.#limit ??= limit
    this.#claiming.abort()
    if (this.#state !== 'held') return
    const { name } = this.#context
    const message = `partition ${this.partition} of '${name}' is handed over: save the position and end the work`
    this.#end('draining', new LeaseLostError(message, { ...this.#details, reason: 'released' }))
  }

  async #live(): Promise<void> {
    if (!(await this.#claim())) return
    const { signal } = this.#lease
    this.#state = 'held'
    this.#publish('held')
    this.#context.onHeld()
    this.#context.claims.onAnswer()
    const unlisten = aborts.add(signal, () => this.#end('lost', signal.reason))
    if (this.#claiming.aborted) this.giveUp()
    else await this.#work()
    unlisten()
    await this.#release()
    this.#publish(this.state === 'lost' ? 'lost' : 'released')
  }

  /** Resolves `true` when the lease is held, `false` when the claim was given up. */
  async #claim(): Promise<boolean> {
    const { clock, interval, waits, requests, claims, keepAlive } = this.#context
    const { signal } = this.#claiming
    // A self-fence ends the process unless the work ends in time.
    const onLost = (): Promise<unknown> | undefined => this.#worked
    while (!signal.aborted) {
      try {
        // A claim that waits is granted as soon as the partition is free. If too many wait, the others ask now and then.
        if (!waits.isFull)
          return await waits.run(() =>
            this.#lease.acquire({ wait: Number.POSITIVE_INFINITY, signal, keepAlive, onLost }),
          )
        if (
          await requests.run(async () => !signal.aborted && (await this.#lease.acquire({ signal, keepAlive, onLost })))
        )
          return true
      } catch (error) {
        if (signal.aborted) break
        claims.onFailure(`partition ${this.partition} could not be claimed`, error)
      }
      await pauseUntil(clock, interval, this.#claiming)
    }
    return false
  }

  /** Resolves when the work on the partition has ended, or has had its time after the end of the assignment. */
  async #work(): Promise<void> {
    const { clock, work, stopTimeout, report, name } = this.#context
    const { signal } = this.#working
    const lease = this.#lease
    const { fencingToken = 0n } = lease
    const assigned: AssignedPartition = extendHeld(heldOf(lease, { signal: lease.signal, fencingToken }), {
      signal,
      partition: this.partition,
      position: lease.previous?.position,
      save: (position: string) => lease.update(ofRecipe('partition-group', { position })),
    })
    const begin = async (): Promise<unknown> => {
      checkRecipe('partition-group', lease.previous, this.#details)
      return work(assigned)
    }
    const working = begin().catch((error) => {
      if (!isReasonOf(signal, error)) report(error, `the work on partition ${this.partition} failed`)
      if (!signal.aborted) this.#end('draining', error)
    })
    this.#worked = working
    await new Promise<void>((resolve) => this.#working.onAbort(resolve))
    const limit = this.#limit ?? stopTimeout
    if (await endsWithin(clock, limit, working)) return
    const message = `the work on partition ${this.partition} of '${name}' did not end within ${limit} ms and is left behind`
    const advice = 'end it when its signal aborts, or raise stopTimeout'
    report(new LeaseTimeoutError(`${message}: ${advice}`, this.#details), message)
  }

  #end(state: 'draining' | 'lost', reason: unknown): void {
    this.#state = state
    this.#claiming.abort()
    this.#working.abort(reason)
  }

  #publish(state: 'held' | 'released' | 'lost'): void {
    const { partition } = recipePublishers
    if (!partition.isOn) return
    const { owner } = this.#lease.settings
    partition.publish({ group: this.#context.name, owner, partition: this.partition, state })
  }

  async #release(): Promise<void> {
    const { requests, report } = this.#context
    try {
      await requests.run(() => this.#lease.release())
    } catch (error) {
      report(error, `partition ${this.partition} could not be released, and stays locked until its ttl is over`)
    }
  }

  get #details(): { leaseName: string; owner: string; store: string } {
    const { name, owner } = this.#lease.settings
    return { leaseName: name, owner, store: this.#context.store.kind ?? 'custom' }
  }
}

/** Whether work that was asked to end did so with the reason of its signal, as platform functions do. */
function isReasonOf(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted && (error === signal.reason || Object(error).cause === signal.reason)
}
