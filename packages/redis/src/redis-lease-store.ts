import type { Grant, LeaseRecord, LeaseStore, Metadata } from '@leasehold/core'
import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreCall,
  StoreChecks,
  type StoreFinding,
  type StoreLimits,
} from '@leasehold/core/store'
import { FirstUseProbe, MessageListeners } from '@leasehold/core/store-kit'
import { toGrantId } from './answers.js'
import type { RedisClient } from './client/redis-client.js'
import { failureOf } from './failure-of.js'
import { LeaseOperations, TOKEN_LIMIT } from './lease-operations.js'
import { conditionsOf, probeServer } from './probe.js'
import { checkStoreOptions, type RedisLeaseStoreOptions } from './redis-options.js'
import { Turns } from './turns.js'

/** For how long a watch without a place in line is registered, in milliseconds, unless it is repeated. */
const WATCH_PERIOD = 30_000

/** If the client cannot subscribe, a watch without a place in line asks once in this number of poll intervals. */
const WATCH_POLLS = 3

/** The other library of `compat` notifies nobody of a release: how often the first waiter asks, in milliseconds, at most. */
const OLD_LOCK_PAUSE = 250

/** A name for requests that are about no lease. */
const PROBED_NAME = 'leasehold-doctor'

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
  readonly limits: StoreLimits = { minTtl: 1, maxTtl: 366 * 86_400_000, infinite: true, ordered: true }
  /** In a cluster, present only if all leases are in one slot: otherwise a node that hangs would hold up the others. */
  readonly renewMany?: (grants: readonly Grant[], call: StoreCall) => Promise<readonly (RenewOutcome | Error)[]>
  readonly #operations: LeaseOperations
  readonly #messages: MessageListeners
  /** `undefined` where the client cannot subscribe: its waiters poll. */
  readonly #turns: Turns | undefined
  readonly #checks = new StoreChecks(this.kind, this.limits)
  readonly #probe: FirstUseProbe

  constructor(client: RedisClient, options: RedisLeaseStoreOptions = {}) {
    checkStoreOptions('RedisLeaseStore', options, this.kind)
    const operations = new LeaseOperations(client, options)
    const { clock, random, channel } = operations
    this.#operations = operations
    this.#probe = new FirstUseProbe(this.kind, options.probe ?? true, async (name, call) =>
      conditionsOf(await operations.probe(name, call)),
    )
    this.#messages = new MessageListeners(clock)
    if (operations.pollInterval === undefined) {
      this.#turns = new Turns(operations.newConnection(), clock, random, channel, this.#messages)
    }
    if (operations.areTogether) {
      this.renewMany = async (grants, call) => {
        this.#checks.usable(call)
        return await operations.renewMany(grants, call)
      }
    }
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    if (this.#probe.isDue) await this.#probe.require(request.name, call)
    if (request.queue === true && this.#turns?.isSubscribed !== false) return await this.#claimInLine(request, call)
    const outcome = await this.#operations.acquire(request, call)
    if (outcome.granted || request.queue !== true) return outcome
    // Most claims are granted at once, and need no subscription; one with a place in line does.
    await this.#subscribed('acquire', request.name, call)
    return await this.#claimInLine(request, call)
  }

  /** Restarts the recorded ttl. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    return await this.#operations.renew(grant, call)
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return await this.#operations.update(grant, metadata, call)
  }

  /**
   * Rejects a token of 9,000,000,000,000,000 or more: the script counts in doubles. The record of a token that is ahead of the
   * server's clock is kept until the clock has passed it. If the server loses the record before, the next token is smaller.
   */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call, TOKEN_LIMIT)
    return await this.#operations.raiseToken(grant, token, call)
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checks.release(grant, call, metadata)
    return await this.#operations.release(grant, call, metadata)
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    return await this.#operations.read(name, call)
  }

  /**
   * Scans every master of a cluster, in pages of 250 keys. Keeps all listed names until the end, because SCAN may repeat
   * them. While a slot moves to another node, names in it may be missing: list again when it has moved.
   */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    this.#checks.usable(call)
    yield* this.#operations.list(prefix, call)
  }

  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.change(grant, to, call)
    return await this.#operations.change(grant, to, call)
  }

  /** The reason is kept in the metadata, as `breakReason`, until the next grant. */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    this.#checks.break(name, options, call)
    return await this.#operations.break(name, options, call)
  }

  async withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    this.#messages.cancelAlarm(turnOf(grantId))
    this.#checks.name(name, call)
    return await this.#operations.withdraw(name, grantId, call)
  }

  /**
   * With the grant id of a request that has a place in line, yields when it is that waiter's turn. Without a grant id,
   * yields when the name has become free; after an expiry, within 10 s.
   */
  async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    const key = this.#operations.keys.keyOf(name)
    try {
      await this.#subscribed('watch', name, call)
    } catch (error) {
      if (call.aborted) return
      throw error
    }
    if (grantId !== undefined) return yield* this.#messages.listen(turnOf(grantId), call)
    const { pollInterval } = this.#operations
    const pause = pollInterval === undefined ? WATCH_PERIOD / 3 : WATCH_POLLS * pollInterval
    const look = (registering: StoreCall): Promise<LeaseRecord | undefined> =>
      pollInterval === undefined
        ? this.#operations.watch(name, WATCH_PERIOD, registering)
        : this.#operations.read(name, registering)
    yield* this.#messages.listenRegistered(
      `free ${key}`,
      call,
      () => pause,
      async (registering) => (await look(registering))?.remaining === undefined,
    )
  }

  /** Asks the server for its configuration, and opens the connection for notifications. Writes nothing. */
  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    const ask = (asking: StoreCall) => this.#operations.probe(PROBED_NAME, asking)
    const subscribe = (subscribing: StoreCall) => this.#subscribed('watch', PROBED_NAME, subscribing)
    return await probeServer(ask, this.#turns === undefined ? undefined : subscribe, call)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  close(): Promise<void> {
    this.#checks.close()
    this.#operations.close()
    this.#turns?.close()
    this.#messages.close()
    return Promise.resolve()
  }

  #claimInLine(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const turn = turnOf(request.grantId)
    const sentAt = this.#operations.clock.now()
    return this.#operations.acquire(request, call, (outcome, [, place, echo]) => {
      if (echo === 'echo') this.#turns?.expectEcho(sentAt)
      // The first waiter has to notice the expiry of the holder by itself.
      const remaining = outcome.granted ? undefined : outcome.holder?.remaining
      const pause = outcome.granted ? undefined : this.#pauseBefore(place)
      const isFirst = place === 'first' || place === 'poll'
      const next = Math.min(isFirst ? (remaining ?? Infinity) : Infinity, pause ?? Infinity)
      if (next < Infinity) this.#messages.setAlarm(turn, next)
      else this.#messages.cancelAlarm(turn)
    })
  }

  /** How long a waiter that polls pauses. All do where the client cannot subscribe; with another lock, the first one does. */
  #pauseBefore(place: string | undefined): number | undefined {
    const { pollInterval, random } = this.#operations
    const pause = place === 'poll' ? Math.min(OLD_LOCK_PAUSE, pollInterval ?? Infinity) : pollInterval
    return pause === undefined ? undefined : pause * (0.5 + random() / 2)
  }

  async #subscribed(operation: string, name: string, call: StoreCall): Promise<void> {
    if (this.#turns === undefined) return
    try {
      await this.#turns.subscribed(call)
    } catch (error) {
      throw call.aborted ? error : failureOf(operation, name, error)
    }
  }
}

/** The message that it is the turn of a waiter. */
function turnOf(grantId: string): string {
  return `turn ${toGrantId(grantId)}`
}
