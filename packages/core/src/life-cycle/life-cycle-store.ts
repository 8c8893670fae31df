import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { checkOptionNames, type OptionNames } from '../errors/option-names.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  LeaseStore,
  ReleaseOutcome,
  RenewOutcome,
  StoreLimits,
} from '../store/lease-store.js'
import type { StoreCall } from '../store/store-call.js'
import { StoreChecks } from '../store-kit/store-checks.js'
import { type Decision, LifeCycle, type LifeCycleRules, type NameState } from './life-cycle.js'
import { isLockedAt, toLeaseRecord } from './stored-lease.js'
import { TurnWatches, type TurnWatchesOptions } from './turn-watches.js'
import type { Place } from './wait-queue.js'
import type { TurnState } from './watched-name.js'

const LONGEST_GRANT_ID = 512

/** How many records a listing reads in one turn of the event loop. */
const SLICE = 250

export interface LifeCycleStoreOptions<P extends Place>
  extends Omit<LifeCycleRules<P>, 'wall'>,
    Pick<TurnWatchesOptions, 'clock' | 'longestSleep' | 'onWatched'> {
  readonly limits: StoreLimits
}

const optionNames: OptionNames<LifeCycleStoreOptions<Place>> = {
  store: true,
  limits: true,
  clock: true,
  tokenAfter: true,
  uncertainty: true,
  isGone: true,
  longestSleep: true,
  onWatched: true,
}

/**
 * A store that keeps records and queues itself, in memory or in a file, and has {@link LifeCycle} decide. The call of an
 * operation may be omitted: the operation is then never aborted.
 */
export abstract class LifeCycleStore<P extends Place = Place> implements LeaseStore {
  readonly kind: string
  readonly limits: StoreLimits
  protected readonly checks: StoreChecks
  protected readonly watches: TurnWatches
  readonly #lifeCycle: LifeCycle<P>

  constructor(options: LifeCycleStoreOptions<P>) {
    checkOptionNames('LifeCycleStore', options, optionNames, { store: options.store })
    const { limits, clock, longestSleep, onWatched, ...rules } = options
    this.kind = rules.store
    this.limits = limits
    this.checks = new StoreChecks(this.kind, limits)
    this.#lifeCycle = new LifeCycle({ ...rules, wall: () => clock.wall?.() })
    this.watches = new TurnWatches({
      clock,
      longestSleep,
      onWatched,
      look: (name) => this.turnOf(name),
      read: (name) => recordOf(name, this.stateOf(name)),
    })
  }

  get closed(): AbortSignal {
    return this.checks.closed
  }

  /** A grant id whose lease is in force is granted again, with the same fencing token. */
  async acquire(request: AcquireRequest, call?: StoreCall): Promise<AcquireOutcome> {
    this.checks.acquire(request, call)
    this.#checkGrantId(request.grantId)
    const own = request.metadata === undefined ? request : { ...request, metadata: copyOf(request.metadata) }
    return this.carryOut(request.name, call, (state) => this.#lifeCycle.acquire(own, state))
  }

  /** Renews for the recorded ttl: to change it, acquire again with the same grant id. */
  async renew(grant: Grant, call?: StoreCall): Promise<RenewOutcome> {
    return this.#renew(grant, call)
  }

  async renewMany(grants: readonly Grant[], call?: StoreCall): Promise<readonly RenewOutcome[]> {
    this.checks.usable(call)
    return Promise.all(grants.map((grant) => this.#renew(grant, call)))
  }

  async update(grant: Grant, metadata: Metadata, call?: StoreCall): Promise<RenewOutcome> {
    return this.#renew(grant, call, metadata)
  }

  async raiseToken(grant: Grant, token: bigint, call?: StoreCall): Promise<RenewOutcome> {
    this.checks.token(grant, token, call)
    return this.carryOut(grant.name, call, (state) => this.#lifeCycle.raiseToken(grant, token, state))
  }

  /** Also releases a grant that has expired or was broken, as long as there is no later grant. */
  async release(grant: Grant, call?: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.checks.release(grant, call, metadata)
    const own = metadata && copyOf(metadata)
    return this.carryOut(grant.name, call, (state) => this.#lifeCycle.release(grant, state, own))
  }

  async read(name: string, call?: StoreCall): Promise<LeaseRecord | undefined> {
    this.checks.name(name, call)
    return this.carryOut(name, call, (state) => ({ outcome: this.#lifeCycle.record(name, state) }))
  }

  /** Reads in slices, so that the event loop is not held up. */
  async *list(prefix: string, call?: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    this.checks.usable(call)
    this.refresh()
    // A copy: a name that is deleted and created again comes only once.
    const names = [...this.names()].filter((name) => name.startsWith(prefix))
    for (let start = 0; start < names.length; start += SLICE) {
      this.checks.usable(call)
      this.refresh()
      const records = names.slice(start, start + SLICE).map((name) => this.#lifeCycle.record(name, this.stateOf(name)))
      for (const record of records) {
        this.checks.usable(call)
        if (record !== undefined) yield record
      }
      // A short listing takes no turn: virtual time would pass meanwhile.
      if (start + SLICE <= names.length) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** A change that is repeated with the same new grant id is granted again, with the same fencing token. */
  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call?: StoreCall): Promise<AcquireOutcome> {
    this.checks.change(grant, to, call)
    this.#checkGrantId(to.grantId)
    return this.carryOut(grant.name, call, (state) => this.#lifeCycle.change(grant, to, state))
  }

  /** Breaking again can only shorten the period. The reason is kept in the metadata, as `breakReason`. */
  async break(name: string, options: BreakOptions = {}, call?: StoreCall): Promise<{ readonly remaining: number }> {
    this.checks.break(name, options, call)
    return this.carryOut(name, call, (state) => this.#lifeCycle.break(name, options, state))
  }

  async withdraw(name: string, grantId: string, call?: StoreCall): Promise<void> {
    this.checks.name(name, call)
    return this.carryOut(name, call, ({ queue }) => ({
      outcome: undefined,
      leave: queue?.get(grantId) === undefined ? [] : [grantId],
    }))
  }

  /**
   * The watch begins with the iteration. When the name becomes free, the first waiter in the queue is notified, and
   * watches without a grant id; without a queue, all watches.
   */
  watch(name: string, call: StoreCall, grantId?: string): AsyncIterable<LeaseRecord | undefined> {
    return this.watches.watch(name, call, grantId, () => this.checks.name(name))
  }

  async close(): Promise<void> {
    this.checks.close()
    this.watches.close()
  }

  /** Takes in the changes of other processes. */
  protected refresh(): void {}

  /** The record and the queue of a name, as this process knows them, and the time. */
  protected abstract stateOf(name: string): NameState<P>

  /** The names that have a record, as far as this process knows. */
  protected abstract names(): Iterable<string>

  /** Brings a decision into force, atomically for the name, and returns its outcome. */
  protected abstract carryOut<T>(
    name: string,
    call: StoreCall | undefined,
    decide: (state: NameState<P>) => Decision<T>,
  ): T | Promise<T>

  /** Must not throw. */
  protected turnOf(name: string): TurnState {
    const { lease, queue, now } = this.stateOf(name)
    const fencingToken = lease?.fencingToken
    if (lease !== undefined && isLockedAt(lease, now)) {
      return { lockedFor: lease.lockedUntil - now, fencingToken, heldBy: lease.grantId }
    }
    const { first } = this.#lifeCycle.turn(queue, now)
    return { lockedFor: 0, fencingToken, first: first && { grantId: first.grantId, keptFor: first.keptUntil - now } }
  }

  #renew(grant: Grant, call: StoreCall | undefined, metadata?: Metadata): RenewOutcome | Promise<RenewOutcome> {
    this.checks.grant(grant, call, metadata)
    const own = metadata && copyOf(metadata)
    return this.carryOut(grant.name, call, (state) => this.#lifeCycle.renew(grant, state, own))
  }

  #checkGrantId(grantId: unknown): void {
    if (typeof grantId === 'string' && grantId !== '' && Buffer.byteLength(grantId) <= LONGEST_GRANT_ID) return
    throw new LeaseConfigurationError(`grantId must be a string of 1 to ${LONGEST_GRANT_ID} bytes`, {
      store: this.kind,
    })
  }
}

function recordOf(name: string, { lease, now }: NameState): LeaseRecord | undefined {
  return lease === undefined ? undefined : toLeaseRecord(name, lease, now)
}

/** The caller may change its object later; the records share the copy. */
function copyOf(metadata: Metadata): Metadata {
  return Object.freeze({ ...metadata })
}
