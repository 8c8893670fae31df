import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type Clock,
  checkMetadata,
  type Grant,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseRecord,
  type LeaseStore,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import { nanoid } from 'nanoid'
import {
  type Answer,
  acquireOutcome,
  durationIn,
  type Floor,
  floorOutcome,
  readOutcome,
  releaseOutcome,
  renewOutcome,
  toDuration,
  toGrantId,
} from './answers.js'
import { dialectOf } from './client/dialect-of.js'
import { Link } from './client/link.js'
import type { RedisClient } from './client/redis-client.js'
import { failureOf } from './failure-of.js'
import { KeySpace } from './key-space.js'
import { OperationQueue } from './operation-queue.js'
import { Turns } from './turns.js'

const DAY = 86_400_000

/** For how long those who watch without a place in line are told, in milliseconds, unless they ask again. */
const WATCH_PERIOD = 30_000

/** Durations are milliseconds. */
export interface RedisLeaseStoreOptions {
  /**
   * What keys and channels begin with; `leasehold:` unless given. With a hash tag in it, such as `{leases}:`, all leases
   * of a cluster are in one slot, and are renewed together.
   */
  readonly prefix?: string | undefined
  /** For how long the record of a name, with its fencing token, is kept after its lease has ended; 7 days unless given. */
  readonly recordLife?: number | undefined
  /** The machine's clock unless given; only time limits and pauses are by it. */
  readonly clock?: Clock | undefined
}

/**
 * Leases on Redis or Valkey: a hash a lease, changed by a script in one round trip. Expiry is by the server's clock.
 *
 * A fencing token is the last of its name plus one, and at least the server's time in microseconds: so tokens keep growing
 * where the server has forgotten some of them (a flush, a failover to a replica that lagged behind), as long as its clock
 * is not set back.
 *
 * The store opens connections of its own with the options of the client that it is given: one at the first use, another
 * once somebody waits. They queue nothing, and repeat nothing.
 */
export class RedisLeaseStore implements LeaseStore {
  readonly kind = 'redis'
  readonly limits: StoreLimits = { minTtl: 1, maxTtl: 366 * DAY, infinite: true, ordered: true }
  /**
   * In few calls; an error stands for each whose outcome is unknown. In a cluster only where the prefix puts all leases into
   * one slot: else one node that hangs would hold up the renewals at all others.
   */
  readonly renewMany?: (grants: readonly Grant[], signal: AbortSignal) => Promise<readonly (RenewOutcome | Error)[]>
  readonly #link: Link
  readonly #keys: KeySpace
  readonly #queue: OperationQueue
  readonly #turns: Turns
  readonly #clock: Clock
  readonly #closing = new AbortController()

  constructor(client: RedisClient, options?: RedisLeaseStoreOptions)
  /** @internal */
  constructor(client: RedisClient, options: RedisLeaseStoreOptions, role: 'member')
  constructor(client: RedisClient, options: RedisLeaseStoreOptions = {}, role?: 'member') {
    const { prefix = 'leasehold:', recordLife = 7 * DAY, clock = systemClock } = options
    if (!(recordLife >= 1_000 && recordLife <= 36_600 * DAY)) {
      throw new LeaseConfigurationError(`recordLife must be at least 1000 ms and finite, not ${recordLife}`, {
        store: 'redis',
      })
    }
    const dialect = dialectOf(client)
    const { clustered, keyPrefix } = dialect
    const channel = `${keyPrefix}${prefix}turns:${nanoid()}`
    this.#clock = clock
    this.#keys = new KeySpace(keyPrefix + prefix)
    this.#link = new Link(dialect, clock)
    this.#turns = new Turns(new Link(dialect, clock), clock, channel)
    const floorKey = role === 'member' ? this.#keys.floorKey : undefined
    const context = { recordLife: Math.ceil(recordLife), channel, clustered, floorKey }
    this.#queue = new OperationQueue(this.#link, clock, context)
    if (!clustered || this.#keys.areTogether) this.renewMany = (grants, signal) => this.#renewAll(grants, signal)
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome> {
    const failure = this.#ttlFailure(request)
    if (failure !== undefined) throw failure
    const isHeard = request.queue === true && this.#turns.isSubscribed
    const asked = this.#claim(request, isHeard, signal)
    return await (request.queue === true && !isHeard ? this.#takePlace(asked, request, signal) : asked)
  }

  /** Starts the recorded ttl anew. */
  renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    return this.#renew(grant, signal, false)
  }

  release({ name, grantId }: Grant, signal: AbortSignal): Promise<ReleaseOutcome> {
    return this.#run('release', name, toGrantId(grantId), signal, releaseOutcome)
  }

  read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    return this.#run('read', name, '', signal, readOutcome)
  }

  change(
    { name, grantId, ttl }: Grant,
    to: { readonly grantId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<AcquireOutcome> {
    const told = `${toGrantId(grantId)} ${toGrantId(to.grantId)} ${to.owner}`
    return this.#run('change', name, told, signal, (answer) => acquireOutcome(answer, { ...to, name, ttl }))
  }

  /**
   * Gives the grant in force a larger fencing token, if it has a smaller one: for a quorum, whose members have to agree.
   *
   * @internal
   */
  raise(grant: Grant, fencingToken: bigint, signal: AbortSignal): Promise<AcquireOutcome> {
    const told = `${toGrantId(grant.grantId)} ${fencingToken}`
    return this.#run('raise', grant.name, told, signal, (answer) => acquireOutcome(answer, grant))
  }

  /**
   * Gives a grant that a majority of a quorum has to a member that has lost it, under its fencing token.
   *
   * @internal
   */
  repair(grant: Grant, metadata: LeaseRecord['metadata'], signal: AbortSignal): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, fencingToken } = grant
    const told = `${toGrantId(grantId)} ${toDuration(ttl)} ${fencingToken} ${JSON.stringify(metadata)}\n${owner}`
    return this.#run('repair', name, told, signal, (answer) => acquireOutcome(answer, grant))
  }

  /**
   * The floor of the fencing tokens of a member of a quorum. The name is that of the lease that asks.
   *
   * @internal
   */
  floor(name: string, signal: AbortSignal): Promise<Floor> {
    return this.#run('floor', name, '', signal, floorOutcome)
  }

  /**
   * Raises the floor of a member of a quorum to that of the others, if it is smaller.
   *
   * @internal
   */
  learn(name: string, floor: bigint, signal: AbortSignal): Promise<void> {
    return this.#run('learn', name, String(floor), signal, () => undefined)
  }

  /** The reason is kept in the metadata, as `breakReason`, until the next grant. */
  async break(name: string, options: BreakOptions, signal: AbortSignal): Promise<{ remaining: number }> {
    const { period = Number.POSITIVE_INFINITY, reason = '' } = options
    if (!(period >= 0)) {
      const message = `the break period must be 0 or more milliseconds, not ${period}`
      throw new LeaseConfigurationError(message, { leaseName: name, store: 'redis' })
    }
    const told = `${toDuration(period)} ${reason}`
    const remaining = await this.#run('break', name, told, signal, (answer) =>
      answer[0] === 'broken' ? durationIn(answer[1] ?? '') : undefined,
    )
    if (remaining !== undefined) return { remaining }
    throw new LeaseConflictError(`nobody holds '${name}': there is nothing to break`, {
      leaseName: name,
      store: 'redis',
    })
  }

  withdraw(name: string, grantId: string, signal: AbortSignal): Promise<void> {
    const id = toGrantId(grantId)
    this.#turns.forgetExpiry(id)
    return this.#run('withdraw', name, id, signal, () => undefined)
  }

  /**
   * With the grant id of a request that has a place in line: when it is that waiter's turn. Without: whenever the name has
   * become free, of an expiry within 10 s.
   */
  async *watch(name: string, signal: AbortSignal, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    const key = this.#keys.keyOf(name)
    try {
      await this.#subscribed('watch', name, signal)
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    if (grantId !== undefined) {
      yield* this.#turns.listen(`turn ${toGrantId(grantId)}`, signal)
      return
    }
    const stop = this.#askToBeTold(name, key)
    try {
      yield* this.#turns.listen(`free ${key}`, signal)
    } finally {
      stop()
    }
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  close(): Promise<void> {
    this.#closing.abort()
    this.#queue.close()
    this.#link.close()
    this.#turns.close()
    return Promise.resolve()
  }

  #claim(request: AcquireRequest, inLine: boolean, signal: AbortSignal): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, metadata } = request
    checkMetadata(metadata, { leaseName: name, store: this.kind })
    const id = toGrantId(grantId)
    const kept = metadata === undefined ? '' : JSON.stringify(metadata)
    const told = `${id} ${toDuration(ttl)} ${inLine ? 'queue' : 'once'} ${kept}\n${owner}`
    if (!inLine) return this.#run('acquire', name, told, signal, (answer) => acquireOutcome(answer, request))
    const askedAt = this.#clock.now()
    return this.#run('acquire', name, told, signal, (answer) => {
      const outcome = acquireOutcome(answer, request)
      if (answer[2] === 'echo') this.#turns.expectEcho(askedAt)
      // The first in line knows when there may be something to be had.
      const remaining = outcome.granted ? undefined : outcome.holder?.remaining
      if (answer[1] === 'first' && remaining !== undefined) this.#turns.expectExpiry(id, remaining)
      else this.#turns.forgetExpiry(id)
      return outcome
    })
  }

  /** Whoever takes a place in line has to hear when it is its turn; most who would wait need not. */
  async #takePlace(
    asked: Promise<AcquireOutcome>,
    request: AcquireRequest,
    signal: AbortSignal,
  ): Promise<AcquireOutcome> {
    const outcome = await asked
    if (outcome.granted) return outcome
    await this.#subscribed('acquire', request.name, signal)
    return await this.#claim(request, true, signal)
  }

  async #subscribed(operation: string, name: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#turns.subscribed(signal)
    } catch (error) {
      throw signal.aborted ? error : failureOf(operation, name, error)
    }
  }

  /** Asks again and again, for the server forgets those who do not; a name that is found free is told as well. */
  #askToBeTold(name: string, key: string): () => void {
    const ended = new AbortController()
    const ask = (): void => {
      cancel = this.#clock.schedule(WATCH_PERIOD / 3, ask)
      this.#run('watch', name, String(WATCH_PERIOD), ended.signal, readOutcome).then(
        (record) => {
          if (record?.remaining === undefined) this.#turns.ring(`free ${key}`)
        },
        // Asked again soon; whoever watches polls beside it.
        () => {},
      )
    }
    let cancel = (): void => {}
    ask()
    return () => {
      cancel()
      ended.abort()
    }
  }

  async #renewAll(grants: readonly Grant[], signal: AbortSignal): Promise<readonly (RenewOutcome | Error)[]> {
    const outcomes = await Promise.allSettled(grants.map((grant) => this.#renew(grant, signal, true)))
    return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error)))
  }

  #renew({ name, grantId }: Grant, signal: AbortSignal, isBulk: boolean): Promise<RenewOutcome> {
    return this.#run('renew', name, toGrantId(grantId), signal, renewOutcome, isBulk)
  }

  #run<T>(
    operation: string,
    leaseName: string,
    told: string,
    signal: AbortSignal,
    toOutcome: (answer: Answer, leaseName: string) => T,
    isBulk = false,
  ): Promise<T> {
    try {
      const key = this.#keys.keyOf(leaseName)
      return this.#queue.run({ operation, leaseName, key, told, toOutcome, isBulk }, signal)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #ttlFailure({ name, ttl }: AcquireRequest): LeaseConfigurationError | undefined {
    const { minTtl, maxTtl } = this.limits
    if ((ttl >= minTtl && ttl <= maxTtl) || ttl === Number.POSITIVE_INFINITY) return undefined
    return new LeaseConfigurationError(`the ttl must be ${minTtl} to ${maxTtl} ms or Infinity, not ${ttl}`, {
      leaseName: name,
      store: 'redis',
    })
  }
}
