import { type Clock, type Grant, type LeaseRecord, type LeaseStore, type Metadata, systemClock } from '@leasehold/core'
import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreCall,
  StoreChecks,
  type StoreLimits,
} from '@leasehold/core/store'
import {
  anotherGrant,
  checkOptionNames,
  MessageListeners,
  nothingToBreak,
  systemRandom,
} from '@leasehold/core/store-kit'
import { nanoid } from 'nanoid'
import {
  type Answer,
  acquireOutcome,
  type Claim,
  durationIn,
  type Floor,
  floorOutcome,
  recordIn,
  releaseOutcome,
  renewOutcome,
  toDuration,
  toGrantId,
  toPrevious,
} from './answers.js'
import { adapterFor } from './client/client-adapter.js'
import { LazyConnection } from './client/lazy-connection.js'
import type { RedisClient } from './client/redis-client.js'
import { failureOf } from './failure-of.js'
import { KeySpace } from './key-space.js'
import { listRecords } from './listing.js'
import { OperationQueue, type Request } from './operation-queue.js'
import { wrong } from './redis-options.js'
import { Turns } from './turns.js'

const DAY = 86_400_000

/** For how long a watch without a place in line is registered, in milliseconds, unless it is repeated. */
const WATCH_PERIOD = 30_000

/** The quorum adds keys of its own to the metadata of a member. */
const MEMBER_METADATA = 4_200

/** Durations are milliseconds. */
export interface RedisLeaseStoreOptions {
  /** Begins all keys and channels; `leasehold:` unless given. With a hash tag, all leases of a cluster are in one slot. */
  readonly prefix?: string | undefined
  /** How long the record of a name, with its fencing token, is kept after its lease has ended; 7 days unless given. */
  readonly recordLife?: number | undefined
  /** The machine's clock unless given. It is used only for time limits and pauses. */
  readonly clock?: Clock | undefined
  /** Random numbers from 0 to 1, 1 excluded, for pauses; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}

/** Throws a `LeaseConfigurationError` for an unknown option. */
export function checkRedisOptions(of: string, options: RedisLeaseStoreOptions, store: string): void {
  const names = { prefix: true, recordLife: true, clock: true, random: true } as const
  checkOptionNames<RedisLeaseStoreOptions>(of, options, names, { store })
}

/**
 * Leases on Redis or Valkey. Each lease is a hash, which a script changes in one round trip. It expires by the server's clock.
 *
 * A fencing token is the last token of its name plus one, and at least the server's time in microseconds. So tokens keep
 * growing after the server has forgotten some of them (a flush, a failover to a replica that lagged behind), unless its
 * clock is set back.
 *
 * The store opens its own connections, with the options of the given client: one at the first use, another one for the
 * first waiter. They neither queue nor repeat commands.
 */
export class RedisLeaseStore implements LeaseStore {
  readonly kind = 'redis'
  readonly limits: StoreLimits
  /** In a cluster only if all leases are in one slot: otherwise a node that hangs would hold up the others. */
  readonly renewMany?: (grants: readonly Grant[], call: StoreCall) => Promise<readonly (RenewOutcome | Error)[]>
  readonly #connection: LazyConnection
  readonly #keys: KeySpace
  readonly #queue: OperationQueue
  readonly #messages: MessageListeners
  readonly #turns: Turns
  readonly #clock: Clock
  readonly #isMember: boolean
  readonly #checks: StoreChecks

  constructor(client: RedisClient, options?: RedisLeaseStoreOptions)
  /** @internal */
  constructor(client: RedisClient, options: RedisLeaseStoreOptions, role: 'member')
  constructor(client: RedisClient, options: RedisLeaseStoreOptions = {}, role?: 'member') {
    checkRedisOptions('RedisLeaseStore', options, this.kind)
    const { prefix = 'leasehold:', recordLife = 7 * DAY, clock = systemClock, random = systemRandom } = options
    if (!(recordLife >= 1_000 && recordLife <= 36_600 * DAY)) {
      throw wrong(`recordLife must be at least 1000 ms and finite, not ${recordLife}`)
    }
    const adapter = adapterFor(client, random)
    const { clustered, keyPrefix } = adapter
    const channel = `${keyPrefix}${prefix}turns:${nanoid()}`
    this.#clock = clock
    this.#isMember = role === 'member'
    const usual = { minTtl: 1, maxTtl: 366 * DAY, infinite: true, ordered: true }
    this.limits = this.#isMember ? { ...usual, metadata: MEMBER_METADATA } : usual
    this.#checks = new StoreChecks(this.kind, this.limits)
    this.#keys = new KeySpace(keyPrefix + prefix)
    this.#connection = new LazyConnection(adapter, clock)
    this.#messages = new MessageListeners(clock)
    this.#turns = new Turns(new LazyConnection(adapter, clock), clock, random, channel, this.#messages)
    const floorKey = this.#isMember ? this.#keys.floorKey : undefined
    const context = { recordLife: Math.ceil(recordLife), channel, clustered, floorKey }
    this.#queue = new OperationQueue(this.#connection, clock, context)
    if (!clustered || this.#keys.areTogether) {
      this.renewMany = async (grants, call) => {
        this.#checks.usable(call)
        const toRequest = ({ name, grantId }: Grant) => this.#request('renew', name, toGrantId(grantId), renewOutcome)
        return await this.#queue.runMany(grants.map(toRequest), call)
      }
    }
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    const isSubscribed = request.queue === true && this.#turns.isSubscribed
    const outcome = await this.#claim(request, isSubscribed, call)
    if (outcome.granted || request.queue !== true || isSubscribed) return outcome
    // Most claims are granted at once, and need no subscription; one with a place in line does.
    await this.#subscribed('acquire', request.name, call)
    return await this.#claim(request, true, call)
  }

  /** Restarts the recorded ttl. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    const { name, grantId } = grant
    this.#checks.grant(grant, call)
    return await this.#run('renew', name, toGrantId(grantId), call, renewOutcome)
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    const { name, grantId } = grant
    this.#checks.grant(grant, call, metadata)
    return await this.#run('update', name, `${toGrantId(grantId)} ${JSON.stringify(metadata)}`, call, renewOutcome)
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    const { name, grantId } = grant
    this.#checks.release(grant, call, metadata)
    const left = metadata === undefined ? '' : ` ${JSON.stringify(metadata)}`
    return await this.#run('release', name, toGrantId(grantId) + left, call, releaseOutcome)
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    return await this.#run('read', name, '', call, this.#toRecord)
  }

  /**
   * By SCAN, at every master of a cluster, in pages of 250 keys. Keeps all listed names until the end, because SCAN may
   * repeat them. While a slot moves to another node, names in it may be missing: list again when it has moved.
   */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    this.#checks.usable(call)
    const toRequest = (name: string) => this.#request('read', name, '', this.#toRecord)
    const readPage = (names: readonly string[]) => this.#queue.runMany(names.map(toRequest), call)
    yield* listRecords(this.#connection, this.#keys, prefix, readPage, call)
  }

  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId, ttl } = grant
    this.#checks.change(grant, to, call)
    const args = `${toGrantId(grantId)} ${toGrantId(to.grantId)} ${to.owner}`
    return await this.#run('change', name, args, call, this.#toGrant({ ...to, name, ttl }))
  }

  /** @internal See `QuorumMember`, as for the next four methods. */
  raise(grant: Grant, fencingToken: bigint, call: StoreCall): Promise<AcquireOutcome> {
    return this.#run('raise', grant.name, `${toGrantId(grant.grantId)} ${fencingToken}`, call, this.#toGrant(grant))
  }

  /** @internal */
  repair(grant: Grant, metadata: Metadata, previous: Metadata | undefined, call: StoreCall): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, fencingToken } = grant
    const claim = `${toGrantId(grantId)} ${toDuration(ttl)} ${fencingToken} ${JSON.stringify(metadata)}`
    return this.#run('repair', name, `${claim}\n${toPrevious(previous)}\n${owner}`, call, this.#toGrant(grant))
  }

  /** @internal */
  retract({ name, grantId }: Grant, call: StoreCall): Promise<ReleaseOutcome> {
    return this.#run('retract', name, toGrantId(grantId), call, releaseOutcome)
  }

  /** @internal */
  floor(name: string, call: StoreCall): Promise<Floor> {
    return this.#run('floor', name, '', call, floorOutcome)
  }

  /** @internal */
  learn(name: string, floor: bigint, call: StoreCall): Promise<void> {
    return this.#run('learn', name, String(floor), call, () => undefined)
  }

  /** The reason is kept in the metadata, as `breakReason`, until the next grant. */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    this.#checks.break(name, options, call)
    const { period = Number.POSITIVE_INFINITY, reason = '', grantId } = options
    const id = grantId === undefined ? '%any' : toGrantId(grantId)
    return await this.#run('break', name, `${toDuration(period)} ${id} ${reason}`, call, ([word, remaining = '']) => {
      if (word === 'broken') return { remaining: durationIn(remaining) }
      throw word === 'other' ? anotherGrant(name, this.kind) : nothingToBreak(name, this.kind)
    })
  }

  async withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    const id = toGrantId(grantId)
    this.#messages.cancelAlarm(`turn ${id}`)
    this.#checks.name(name, call)
    return await this.#run('withdraw', name, id, call, () => undefined)
  }

  /**
   * With the grant id of a request that has a place in line, yields when it is that waiter's turn. Without, yields when the
   * name has become free; after an expiry, within 10 s.
   */
  async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    const key = this.#keys.keyOf(name)
    try {
      await this.#subscribed('watch', name, call)
    } catch (error) {
      if (call.aborted) return
      throw error
    }
    if (grantId !== undefined) return yield* this.#messages.listen(`turn ${toGrantId(grantId)}`, call)
    yield* this.#messages.listenRegistered(
      `free ${key}`,
      call,
      () => WATCH_PERIOD / 3,
      async (registering) => {
        const record = await this.#run('watch', name, String(WATCH_PERIOD), registering, this.#toRecord)
        return record?.remaining === undefined
      },
    )
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  close(): Promise<void> {
    this.#checks.close()
    this.#queue.close()
    this.#connection.close()
    this.#turns.close()
    return Promise.resolve()
  }

  #claim(request: AcquireRequest, inLine: boolean, call: StoreCall): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, metadata } = request
    const id = toGrantId(grantId)
    const kept = metadata === undefined ? '' : JSON.stringify(metadata)
    const args = `${id} ${toDuration(ttl)} ${inLine ? 'queue' : 'once'} ${kept}\n${owner}`
    const toOutcome = this.#toGrant(request)
    if (!inLine) return this.#run('acquire', name, args, call, toOutcome)
    const sentAt = this.#clock.now()
    return this.#run('acquire', name, args, call, (answer) => {
      const outcome = toOutcome(answer)
      if (answer[2] === 'echo') this.#turns.expectEcho(sentAt)
      // The first waiter has to notice the expiry of the holder by itself.
      const remaining = outcome.granted ? undefined : outcome.holder?.remaining
      if (answer[1] === 'first' && remaining !== undefined) this.#messages.setAlarm(`turn ${id}`, remaining)
      else this.#messages.cancelAlarm(`turn ${id}`)
      return outcome
    })
  }

  async #subscribed(operation: string, name: string, call: StoreCall): Promise<void> {
    try {
      await this.#turns.subscribed(call)
    } catch (error) {
      throw call.aborted ? error : failureOf(operation, name, error)
    }
  }

  readonly #toRecord = (answer: Answer, name: string) => recordIn(answer, name, this.#isMember)

  #toGrant(claim: Claim): (answer: Answer) => AcquireOutcome {
    return (answer) => acquireOutcome(answer, claim, this.#isMember)
  }

  #request<T>(operation: string, leaseName: string, args: string, toOutcome: Request<T>['toOutcome']): Request<T> {
    return { operation, leaseName, key: this.#keys.keyOf(leaseName), args, toOutcome }
  }

  #run<T>(
    operation: string,
    name: string,
    args: string,
    call: StoreCall,
    toOutcome: Request<T>['toOutcome'],
  ): Promise<T> {
    return this.#queue.run(this.#request(operation, name, args, toOutcome), call)
  }
}
