import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type Clock,
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
import { type Answer, acquireOutcome, durationIn, holderIn, recordIn, refusalIn, toDuration } from './answers.js'
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
  readonly #link: Link
  readonly #keys: KeySpace
  readonly #queue: OperationQueue
  readonly #turns: Turns
  readonly #clock: Clock

  constructor(client: RedisClient, options: RedisLeaseStoreOptions = {}) {
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
    this.#queue = new OperationQueue(this.#link, clock, { recordLife: Math.ceil(recordLife), channel, clustered })
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, metadata, queue = false } = request
    this.#checkTtl(name, ttl)
    const id = encodeURIComponent(grantId)
    const words = ['acquire', id, owner, toDuration(ttl), metadata === undefined ? '' : JSON.stringify(metadata)]
    const isHeard = queue && this.#turns.isSubscribed
    const askedAt = this.#clock.now()
    const answer = await this.#run('acquire', name, [...words, isHeard ? '1' : '0'], signal)
    if (answer[0] === 'granted' || !queue) return acquireOutcome(answer, request)
    if (isHeard) {
      if (answer[2] === 'echo') this.#turns.expectEcho(askedAt)
      return this.#wait(answer, request)
    }
    // Whoever takes a place in line has to hear when it is its turn.
    try {
      await this.#turns.subscribed(signal)
    } catch (error) {
      throw signal.aborted ? error : failureOf('acquire', name, error)
    }
    return this.#wait(await this.#run('acquire', name, [...words, '1'], signal), request)
  }

  /** Starts the recorded ttl anew. */
  renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    return this.#renew(grant, signal, false)
  }

  /** In few calls, in a cluster in one for each slot; an error stands for each whose outcome is unknown. */
  async renewMany(grants: readonly Grant[], signal: AbortSignal): Promise<readonly (RenewOutcome | Error)[]> {
    const outcomes = await Promise.allSettled(grants.map((grant) => this.#renew(grant, signal, true)))
    return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error)))
  }

  async release({ name, grantId }: Grant, signal: AbortSignal): Promise<ReleaseOutcome> {
    const answer = await this.#run('release', name, ['release', encodeURIComponent(grantId)], signal)
    return answer[0] === 'released' ? { released: true } : { released: false, ...holderIn(name, answer, 1) }
  }

  async read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    return recordIn(name, await this.#run('read', name, ['read'], signal), 1)
  }

  async change(
    { name, grantId, ttl }: Grant,
    to: { readonly grantId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<AcquireOutcome> {
    const words = ['change', encodeURIComponent(grantId), encodeURIComponent(to.grantId), to.owner]
    return acquireOutcome(await this.#run('change', name, words, signal), { ...to, name, ttl })
  }

  /**
   * Gives the grant in force a larger fencing token, if it has a smaller one: for a quorum, whose members have to agree.
   *
   * @internal
   */
  async raise(grant: Grant, fencingToken: bigint, signal: AbortSignal): Promise<AcquireOutcome> {
    const words = ['raise', encodeURIComponent(grant.grantId), String(fencingToken)]
    return acquireOutcome(await this.#run('raise', grant.name, words, signal), grant)
  }

  /** The reason is kept in the metadata, as `breakReason`, until the next grant. */
  async break(name: string, options: BreakOptions, signal: AbortSignal): Promise<{ remaining: number }> {
    const { period = Number.POSITIVE_INFINITY, reason = '' } = options
    if (!(period >= 0)) {
      const message = `the break period must be 0 or more milliseconds, not ${period}`
      throw new LeaseConfigurationError(message, { leaseName: name, store: 'redis' })
    }
    const answer = await this.#run('break', name, ['break', toDuration(period), reason], signal)
    if (answer[0] === 'broken') return { remaining: durationIn(answer[1] ?? '') }
    throw new LeaseConflictError(`nobody holds '${name}': there is nothing to break`, {
      leaseName: name,
      store: 'redis',
    })
  }

  async withdraw(name: string, grantId: string, signal: AbortSignal): Promise<void> {
    const id = encodeURIComponent(grantId)
    this.#turns.forgetExpiry(id)
    await this.#run('withdraw', name, ['withdraw', id], signal)
  }

  /**
   * With the grant id of a request that has a place in line: when it is that waiter's turn. Without: whenever the name has
   * become free, of an expiry within 10 s.
   */
  async *watch(name: string, signal: AbortSignal, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    const key = this.#keys.keyOf(name)
    try {
      await this.#turns.subscribed(signal)
    } catch (error) {
      if (signal.aborted) return
      throw failureOf('watch', name, error)
    }
    if (grantId !== undefined) {
      yield* this.#turns.listen(`turn ${encodeURIComponent(grantId)}`, signal)
      return
    }
    const stop = this.#askToBeTold(name, key)
    try {
      yield* this.#turns.listen(`free ${key}`, signal)
    } finally {
      stop()
    }
  }

  close(): Promise<void> {
    this.#queue.close()
    this.#link.close()
    this.#turns.close()
    return Promise.resolve()
  }

  /** A refused request has a place in line; the first knows when there may be something to be had. */
  #wait(answer: Answer, request: AcquireRequest): AcquireOutcome {
    const outcome = acquireOutcome(answer, request)
    const id = encodeURIComponent(request.grantId)
    const remaining = outcome.granted ? undefined : outcome.holder?.remaining
    if (answer[1] === 'first' && remaining !== undefined) this.#turns.expectExpiry(id, remaining)
    else this.#turns.forgetExpiry(id)
    return outcome
  }

  /** Asks again and again, for the server forgets those who do not; a name that is found free is told as well. */
  #askToBeTold(name: string, key: string): () => void {
    const ended = new AbortController()
    const ask = (): void => {
      cancel = this.#clock.schedule(WATCH_PERIOD / 3, ask)
      this.#run('watch', name, ['watch', String(WATCH_PERIOD)], ended.signal).then(
        (answer) => {
          if (recordIn(name, answer, 1)?.remaining === undefined) this.#turns.ring(`free ${key}`)
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

  async #renew({ name, grantId }: Grant, signal: AbortSignal, isBulk: boolean): Promise<RenewOutcome> {
    const answer = await this.#run('renew', name, ['renew', encodeURIComponent(grantId)], signal, isBulk)
    if (answer[0] === 'renewed') return { renewed: true }
    return { renewed: false, reason: refusalIn(answer), ...holderIn(name, answer, 2) }
  }

  async #run(
    operation: string,
    name: string,
    words: readonly string[],
    signal: AbortSignal,
    isBulk = false,
  ): Promise<Answer> {
    try {
      return await this.#queue.run(this.#keys.keyOf(name), words, signal, isBulk)
    } catch (error) {
      throw signal.aborted && error === signal.reason ? error : failureOf(operation, name, error)
    }
  }

  #checkTtl(name: string, ttl: number): void {
    const { minTtl, maxTtl } = this.limits
    if ((ttl >= minTtl && ttl <= maxTtl) || ttl === Number.POSITIVE_INFINITY) return
    throw new LeaseConfigurationError(`the ttl must be ${minTtl} to ${maxTtl} ms or Infinity, not ${ttl}`, {
      leaseName: name,
      store: 'redis',
    })
  }
}
