import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { checkOptionNames } from '../errors/option-names.js'
import type { Decision, NameState } from '../life-cycle/life-cycle.js'
import { LifeCycleStore } from '../life-cycle/life-cycle-store.js'
import type { StoredLease } from '../life-cycle/stored-lease.js'
import { WaitQueue } from '../life-cycle/wait-queue.js'
import type { AcquireOutcome, AcquireRequest, BreakOptions } from '../store/lease-store.js'
import type { StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/system-clock.js'

/** The longest period after which a lease can be broken, in milliseconds: that of a Lease Blob. */
const LONGEST_BREAK = 60_000

/** An acquisition in memory: without a grant id the store creates one, and the request takes no place in the queue. */
export type MemoryAcquireRequest = Omit<AcquireRequest, 'grantId'> & { readonly grantId?: string }

export interface MemoryLeaseStoreOptions {
  /** Decides on expiry. The system's clock unless given. */
  readonly clock?: Clock
}

/**
 * Leases among the parts of one process, with the whole life cycle of Azure's Lease Blob (its reference: "Lease Blob",
 * service version 2012-02-12 and later). Every operation takes effect at once, before its promise is returned, so its
 * outcome is never unknown. The store finds out about expiry when it reads a record, by its own clock.
 *
 * A released record is kept, because the fencing token lives in it; {@link MemoryLeaseStore.delete} removes it.
 */
export class MemoryLeaseStore extends LifeCycleStore {
  readonly #clock: Clock
  /** In the order in which the names were first used. */
  readonly #leases = new Map<string, StoredLease>()
  /** The queues of the names that have places. */
  readonly #queues = new Map<string, WaitQueue>()
  /** The largest token of all deleted names: a name without a record continues from it. */
  #deletedToken = 0n

  constructor(options: MemoryLeaseStoreOptions = {}) {
    checkOptionNames<MemoryLeaseStoreOptions>('MemoryLeaseStore', options, { clock: true }, { store: 'memory' })
    const { clock = systemClock } = options
    super({
      store: 'memory',
      limits: { minTtl: 1, maxTtl: Number.MAX_SAFE_INTEGER, infinite: true, ordered: true },
      clock,
      uncertainty: 0,
      tokenAfter: (last) => tokenInMemory(last, this.#deletedToken),
    })
    this.#clock = clock
  }

  override acquire(request: MemoryAcquireRequest, call?: StoreCall): Promise<AcquireOutcome> {
    return super.acquire(
      hasGrantId(request) ? request : { ...request, grantId: crypto.randomUUID(), queue: false },
      call,
    )
  }

  /** The period is at most 60,000 ms, else it rejects with a `LeaseConfigurationError`. */
  override async break(name: string, options: BreakOptions = {}, call?: StoreCall): Promise<{ remaining: number }> {
    const { period = 0 } = options
    if (period > LONGEST_BREAK) {
      const message = `the break period must be 0 to ${LONGEST_BREAK} ms, not ${period}`
      throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
    }
    return super.break(name, options, call)
  }

  /**
   * Removes the record, as deleting the blob does: the next heartbeat of the holder is refused, and waiters
   * keep their places. Resolves with whether there was a record. The fencing tokens of the name still grow: the store
   * keeps the largest token of all deleted names, and a name without a record continues from it.
   */
  async delete(name: string, call?: StoreCall): Promise<boolean> {
    this.checks.usable(call)
    const lease = this.#leases.get(name)
    if (lease === undefined) return false
    if (lease.fencingToken > this.#deletedToken) this.#deletedToken = lease.fencingToken
    this.#leases.delete(name)
    this.watches.update(name)
    return true
  }

  override async close(): Promise<void> {
    await super.close()
    this.#leases.clear()
    this.#queues.clear()
  }

  protected override stateOf(name: string): NameState {
    return { lease: this.#leases.get(name), queue: this.#queues.get(name), now: this.#clock.now() }
  }

  protected override names(): Iterable<string> {
    return this.#leases.keys()
  }

  protected override carryOut<T>(
    name: string,
    _call: StoreCall | undefined,
    decide: (state: NameState) => Decision<T>,
  ): T {
    const { outcome, next, leave = [], keep } = decide(this.stateOf(name))
    if (next !== undefined) this.#leases.set(name, next)
    if (leave.length > 0 || keep !== undefined) {
      const queue = this.#queues.get(name) ?? new WaitQueue()
      for (const grantId of leave) queue.remove(grantId)
      if (keep !== undefined) queue.keep(keep)
      if (queue.size > 0) this.#queues.set(name, queue)
      else this.#queues.delete(name)
    }
    this.watches.update(name)
    return outcome
  }
}

/** The next token of a name. A name without a record continues from the largest token of all deleted names. */
export function tokenInMemory(last: bigint | undefined, deleted: bigint): bigint {
  return (last ?? deleted) + 1n
}

function hasGrantId(request: MemoryAcquireRequest): request is AcquireRequest {
  return request.grantId !== undefined
}
