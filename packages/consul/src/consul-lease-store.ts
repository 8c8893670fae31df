import {
  type Clock,
  type Grant,
  isLocked,
  type LeaseRecord,
  type LeaseStore,
  type Metadata,
  systemClock,
} from '@leasehold/core'
import {
  AbortableCall,
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
import {
  anotherGrant,
  checkOptionNames,
  GRANTED_AGAIN,
  inRounds,
  largerOf,
  nothingToBreak,
  type OptionNames,
  raisedTo,
  systemRandom,
  withoutBreakReason,
} from '@leasehold/core/store-kit'
import { type ConsulClusterOptions, checkNoClient } from './cluster-options.js'
import type { ConsulOperation } from './consul-guard.js'
import { type ConsulOptions, consulOptions, misconfigured } from './consul-options.js'
import { heldByAnotherProgram } from './failure-of.js'
import { ConsulClient } from './http/consul-client.js'
import { KeySpace } from './key-space.js'
import { KeyWatches } from './key-watches.js'
import { LeaseKeys } from './lease-keys.js'
import { LeaseLocks } from './lease-locks.js'
import type { LeaseValue } from './lease-value.js'
import { probeCluster } from './probe.js'
import { LONGEST_LOCK_DELAY, Sessions } from './sessions.js'
import {
  granted,
  raisedToken,
  recordOf,
  type SeenEntry,
  type Standing,
  standingOf,
  tokenOf,
  vacatedFor,
} from './standing.js'
import { lock, unchanged, unlock } from './transaction.js'

const SECOND = 1_000
const DAY = 86_400_000

/** How long `close` waits for the end of sessions that hold nothing, in milliseconds. */
const CLOSE_TIMEOUT = 1_000

/** When a lock-delay lasts for longer than expected, a challenger asks again after this time, in milliseconds. */
const SOON = 500

/** Durations are milliseconds. */
export interface ConsulLeaseStoreOptions
  extends ConsulOptions,
    Pick<ConsulClusterOptions, 'agent' | 'consul' | 'fetch'> {
  /** For time limits, pauses and observed periods; the machine's clock unless given. */
  readonly clock?: Clock | undefined
  /** Random numbers from 0 to 1, 1 excluded, for pauses; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}

/** The names of the options of a store in code. */
const optionNames: OptionNames<ConsulLeaseStoreOptions> = {
  ...consulOptions.names,
  agent: true,
  consul: true,
  fetch: true,
  clock: true,
  random: true,
}

/**
 * Leases on Consul, as its own locks: the holder is the one whose session holds the key. All leases of a store with the
 * same ttl share a session. The fencing token is the `ModifyIndex` of the write that granted the lease, unless it was raised
 * above the indexes: see `raiseToken`.
 *
 * A heartbeat renews the session and reads the key, `consistent`; it writes nothing. The holder counts its validity from
 * before the read. The read shows that the key is locked, and Consul keeps it locked for the lock-delay after the session
 * has ended, for whatever reason.
 */
export class ConsulLeaseStore implements LeaseStore {
  readonly kind = 'consul'
  readonly limits: StoreLimits
  readonly #checks: StoreChecks
  readonly #clock: Clock
  readonly #client: ConsulClient
  readonly #keys: LeaseKeys
  readonly #sessions: Sessions
  readonly #watches: KeyWatches
  readonly #locks: LeaseLocks

  /** Throws a `LeaseConfigurationError` if an option is invalid. The constructor sends no request. */
  constructor(options: ConsulLeaseStoreOptions = {}) {
    checkNoClient('ConsulLeaseStore', options)
    checkOptionNames('ConsulLeaseStore', options, optionNames, { store: 'consul' })
    const { clock = systemClock, prefix = 'leasehold/', minTtl = 10 * SECOND, lockDelay, nodeChecks } = options
    if (!(minTtl > 0 && minTtl <= DAY))
      throw misconfigured(`minTtl must be more than 0 ms and at most a day, not ${minTtl}`)
    if (lockDelay !== undefined && !(lockDelay >= 0 && lockDelay <= LONGEST_LOCK_DELAY)) {
      throw misconfigured(`lockDelay must be 0 to ${LONGEST_LOCK_DELAY} ms, not ${lockDelay}`)
    }
    // Consul keeps a session for twice its ttl, and then the name for the lock-delay, which is a ttl unless given.
    const frees = { ttls: 2.2 + (lockDelay === undefined ? 1 : lockDelay / minTtl), extra: 0 }
    // Consul ends the session of a dead holder. Only with a ttl beyond its lock-delay have challengers to observe the rest.
    const looks = { needed: 1, extra: 0 } as const
    this.limits = { minTtl, maxTtl: DAY, infinite: false, ordered: false, observed: true, frees, looks }
    this.#checks = new StoreChecks(this.kind, this.limits)
    this.#clock = clock
    this.#client = new ConsulClient(options)
    this.#keys = new LeaseKeys(new KeySpace(prefix), this.#client, clock)
    this.#sessions = new Sessions(this.#client, { lockDelay, nodeChecks })
    this.#locks = new LeaseLocks(this.#keys, this.#sessions, clock)
    this.#watches = new KeyWatches(this.#keys, clock, options.random ?? systemRandom)
  }

  /** Asks the agent for the leader and for the limits of sessions. Writes nothing. */
  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    return await probeCluster(this.#client, this.limits.minTtl, call)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId } = request
    this.#checks.acquire(request, call)
    return await this.#inRounds(name, call, async () => {
      const entry = await this.#keys.read(name, call)
      if (entry === undefined) return await this.#lock(request, undefined, call)
      const standing = standingOf(entry)
      if (entry.value?.grantId === grantId && standing.state === 'leased')
        return await this.#repeat(request, entry, call)
      if (isLocked(standing)) return { granted: false, holder: this.#recordOf(name, entry) }
      this.#keys.checkIsLock(name, entry)
      const remaining = vacatedFor(entry, LONGEST_LOCK_DELAY)
      if (remaining > 0) return this.#vacated(name, entry, remaining)
      return await this.#lock(request, entry, call)
    })
  }

  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    const [outcome] = await this.renewMany([grant], call)
    if (outcome === undefined || outcome instanceof Error) throw outcome
    return outcome
  }

  /** Sends one request for each session, and one for each 64 keys. None of them writes to the Raft log. */
  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    for (const grant of grants) this.#checks.grant(grant, call)
    const sentAt = this.#clock.now()
    await this.#locks.freeSilent(call, grants)
    const renewals = new Map<string, Promise<boolean>>()
    const renewed = (session: string): Promise<boolean> => {
      const renewal = renewals.get(session) ?? this.#sessions.renew(session, call)
      renewals.set(session, renewal)
      // The renewal is awaited only for keys that turn out to be held.
      renewal.catch(() => {})
      return renewal
    }
    for (const { name, grantId } of grants) {
      const session = this.#locks.writtenFor(name, grantId)?.session
      if (session !== undefined) void renewed(session)
    }
    const names = grants.map(({ name }) => name)
    const entries = await this.#keys.readMany(names, call)
    const outcomes = grants.map(async (grant, place): Promise<RenewOutcome | Error> => {
      const refusal = this.#refusalOf(grant, entries[place])
      if (refusal !== undefined) return refusal
      const { session = '' } = entries[place] ?? {}
      if (await renewed(session)) {
        this.#locks.heard(grant.grantId, sentAt)
        return { renewed: true }
      }
      this.#sessions.forget(session)
      return { renewed: false, reason: 'expired' }
    })
    return await Promise.all(outcomes.map((outcome) => outcome.catch((error: Error) => error)))
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return await this.#rewrite(grant, call, (value, token) => ({ ...value, metadata, token }))
  }

  /**
   * Writes the token into the value of the key, where a release and an expiry leave it. Later grants count on from it, one by
   * one, until the index of the Raft log has passed it. The raise is lost if the key is deleted, if another program writes
   * its own value, as `consul lock` does, and with the next grant by a version of this package without this method: the
   * token of a grant is then an index again, which may be smaller.
   */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call)
    return await this.#rewrite(raisedTo(grant, token), call, (value, last) => ({
      ...value,
      token: largerOf(last, token),
    }))
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    const { name, grantId } = grant
    this.#checks.release(grant, call, metadata)
    return await this.#inRounds(name, call, async (isFirst) => {
      const entry = await this.#locks.entryOf(grant, isFirst, call)
      if (entry?.value?.grantId !== grantId || entry.session === '') {
        this.#locks.forget(name, grantId)
        return { released: false, ...this.#holderOf(name, entry) }
      }
      const { breakPeriod: _, previous: __, ...left } = entry.value
      const isKept = metadata === undefined || tokenOf(entry) > grant.fencingToken
      const freed: LeaseValue = {
        ...left,
        metadata: isKept ? left.metadata : metadata,
        token: tokenOf(entry),
        released: true,
      }
      if ((await this.#locks.write(name, entry, unlock, freed, call)) === undefined) return undefined
      this.#locks.forget(name, grantId)
      return { released: true }
    })
  }

  /**
   * A lease whose session has ended is `expired`, also while the lock-delay keeps the name locked. The token of a record
   * that another process wrote is then that of the end of the session, which is larger than that of the grant.
   */
  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    const entry = await this.#keys.read(name, call)
    return entry && this.#recordOf(name, entry)
  }

  /** Sends one request for all keys under the prefix. Consul leaves out the keys that the ACL token must not read. */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    this.#checks.usable(call)
    for await (const { name, ...entry } of this.#keys.list(prefix, call)) {
      if (entry.isLock || entry.value !== undefined) yield this.#recordOf(name, entry)
    }
  }

  /** The key stays with the session of the first holder until the adopter acquires it under the new grant id. */
  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId } = grant
    this.#checks.change(grant, to, call)
    return await this.#inRounds(name, call, async (isFirst) => {
      const entry = await this.#locks.entryOf(grant, isFirst, call)
      const value = entry?.value
      if (entry === undefined || value === undefined || standingOf(entry).state !== 'leased')
        return { granted: false, ...this.#holderOf(name, entry) }
      if (value.grantId === to.grantId) return await this.#repeat({ ...to, name, ttl: value.ttl }, entry, call)
      if (value.grantId !== grantId) return { granted: false, ...this.#holderOf(name, entry) }
      const { token: _, ...kept } = value
      const token = raisedToken(entry)
      this.#locks.claim(name, { ...to, ttl: value.ttl })
      const next: LeaseValue = {
        ...{ ...kept, grantId: to.grantId, owner: to.owner, previous: value.metadata },
        ...(token === undefined ? {} : { token }),
      }
      const [written, isAlive] = await Promise.all([
        this.#locks.write(name, entry, lock, next, call),
        this.#sessions.renew(entry.session, call),
      ])
      if (written === undefined || !isAlive) return undefined
      this.#locks.forget(name, grantId)
      return granted(name, written)
    })
  }

  /**
   * The session of the holder keeps the key for the period. Then a challenger takes over that has seen the period pass, or
   * the process of the holder frees the name.
   */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    this.#checks.break(name, options, call)
    const { period = Number.POSITIVE_INFINITY, reason, grantId } = options
    return await this.#inRounds(name, call, async () => {
      const entry = await this.#keys.read(name, call)
      if (grantId !== undefined && entry?.value?.grantId !== grantId) throw anotherGrant(name, this.kind)
      const standing = entry && standingOf(entry)
      if (entry === undefined || standing === undefined || standing.state === 'available')
        throw nothingToBreak(name, this.kind)
      const { session, value } = entry
      if (value === undefined) throw heldByAnotherProgram(name, session)
      if (session === '' && standing.state === 'broken') return { remaining: 0 }
      const metadata = reason === undefined ? value.metadata : { ...value.metadata, breakReason: reason }
      const broken = { ...value, metadata, token: tokenOf(entry) }
      if (session === '') return await this.#breakExpired(name, entry, { ...broken, breakPeriod: 0 }, call)
      const breakPeriod = Math.min(period, value.ttl)
      // Breaking again can only shorten the period: challengers that saw it pass must not wait again.
      const { remaining = Number.POSITIVE_INFINITY } = standing
      if (value.breakPeriod !== undefined && remaining <= breakPeriod) return { remaining }
      const change = breakPeriod > 0 && standing.state !== 'broken' ? lock : unlock
      const written = await this.#locks.write(name, entry, change, { ...broken, breakPeriod }, call)
      return written && { remaining: standingOf(written).remaining ?? 0 }
    })
  }

  /** Yields when the name may be free, to one waiter of this process after the other, and when the lease is passed on to it. */
  async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    this.#checks.name(name)
    yield* this.#watches.watch(name, call, grantId)
  }

  /**
   * The operation `check-session` for a transaction of your own, such as one of a `ConsulGuard`: it fails unless the session
   * of this grant still holds the key. `undefined` if the grant is not one of this store. The leases of a store share the
   * session: check the token too.
   */
  heldCheck({ name, grantId }: Grant): ConsulOperation | undefined {
    const entry = this.#locks.writtenFor(name, grantId)
    return entry && { KV: { Verb: 'check-session', Key: entry.key, Session: entry.session } }
  }

  /** Ends the sessions that hold nothing. The leases that are held expire. */
  async close(): Promise<void> {
    if (!this.#checks.close()) return
    this.#watches.close()
    const call = new AbortableCall(CLOSE_TIMEOUT)
    const cancel = this.#clock.schedule(CLOSE_TIMEOUT, () => call.abort(new Error('close has waited long enough')))
    await this.#sessions.end(this.#locks.sessions, call)
    cancel()
    this.#client.close()
  }

  /** Locks a free key, or takes the key of a broken lease over. */
  async #lock(
    request: AcquireRequest,
    entry: SeenEntry | undefined,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    const { name, owner, grantId, ttl } = request
    const left = entry?.value
    const token = raisedToken(entry)
    const value: LeaseValue = {
      ...{ owner, grantId, ttl, lockDelay: this.#sessions.lockDelayOf(ttl) },
      metadata: request.metadata ?? withoutBreakReason(left?.metadata ?? {}),
      ...(left === undefined ? {} : { previous: left.metadata }),
      ...(token === undefined ? {} : { token }),
    }
    return await this.#take(name, entry, value, call)
  }

  /** Repeats a request for the grant in force, which may be under the session of another process, or of another ttl. */
  async #repeat(
    { name, ttl, metadata }: Pick<AcquireRequest, 'name' | 'ttl' | 'metadata'>,
    entry: SeenEntry,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    const { id } = await this.#sessions.current(ttl, call)
    const value = entry.value as LeaseValue
    this.#locks.claim(name, { ...value, ttl })
    const isSame = entry.session === id && value.ttl === ttl && metadata === undefined
    if (!isSame) {
      const lockDelay = this.#sessions.lockDelayOf(ttl)
      const next = { ...value, ttl, lockDelay, metadata: metadata ?? value.metadata, token: tokenOf(entry) }
      return await this.#take(name, entry, next, call)
    }
    if (await this.#sessions.renew(id, call)) return granted(name, this.#locks.keep(name, entry))
    this.#sessions.forget(id)
    return undefined
  }

  /** Writes the value of a grant in force, and renews its session. It has expired if there is no value to write. */
  async #rewrite(
    grant: Grant,
    call: StoreCall,
    valueAfter: (value: LeaseValue, token: bigint) => LeaseValue,
  ): Promise<RenewOutcome> {
    const { name, grantId } = grant
    const sentAt = this.#clock.now()
    return await this.#inRounds(name, call, async (isFirst) => {
      const entry = await this.#locks.entryOf(grant, isFirst, call)
      const refusal = this.#refusalOf(grant, entry)
      if (refusal !== undefined) return refusal
      const { session, value } = entry as SeenEntry
      const next = valueAfter(value as LeaseValue, tokenOf(entry as SeenEntry))
      const [written, isAlive] = await Promise.all([
        this.#locks.write(name, entry as SeenEntry, lock, next, call),
        this.#sessions.renew(session, call),
      ])
      if (written === undefined) return undefined
      if (isAlive) {
        this.#locks.heard(grantId, sentAt)
        return { renewed: true }
      }
      this.#sessions.forget(session)
      return { renewed: false, reason: 'expired' }
    })
  }

  async #take(
    name: string,
    entry: SeenEntry | undefined,
    value: LeaseValue,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    const taken = await this.#locks.take(name, entry, value, call)
    if (taken !== 'delayed') return taken && granted(name, taken)
    if (entry === undefined) return { granted: false }
    const remaining = (entry.value?.lockDelay ?? 0) - entry.unchanged
    return this.#vacated(name, entry, Math.max(remaining, SOON))
  }

  /** Breaks a lease whose session has ended, unless the lock-delay is in force. */
  async #breakExpired(
    name: string,
    entry: SeenEntry,
    value: LeaseValue,
    call: StoreCall,
  ): Promise<{ remaining: number } | undefined> {
    const { id } = await this.#sessions.current(value.ttl, call)
    const { key } = entry
    const operations = [unchanged(key, entry), lock(key, id, value), unlock(key, id, value)]
    const outcome = await this.#keys.write(name, operations, call)
    if (outcome.applied) return { remaining: 0 }
    if (outcome.reason === 'session') this.#sessions.forget(id)
    return outcome.reason === 'delayed' ? { remaining: value.lockDelay } : undefined
  }

  /** Returns why the grant is over; `undefined` if it is in force. */
  #refusalOf({ name, grantId, fencingToken }: Grant, entry: SeenEntry | undefined): RenewOutcome | undefined {
    const value = entry?.value
    if (entry !== undefined && value?.grantId === grantId && standingOf(entry).state === 'leased') {
      // A late duplicate of a claim can be granted again, under the same id: the earlier grant stays over.
      return tokenOf(entry) > fencingToken ? GRANTED_AGAIN : undefined
    }
    this.#locks.forget(name, grantId)
    if (entry === undefined || (value === undefined && entry.session === ''))
      return { renewed: false, reason: 'deleted' }
    if (value?.grantId !== grantId) return { renewed: false, reason: 'taken', ...this.#holderOf(name, entry) }
    if (value.breakPeriod === undefined) return { renewed: false, reason: 'expired' }
    if (!this.closed.aborted) this.#locks.freeLater(name, entry)
    return { renewed: false, reason: 'broken' }
  }

  #holderOf(name: string, entry: SeenEntry | undefined): { holder?: LeaseRecord } {
    return entry !== undefined && isLocked(standingOf(entry)) ? { holder: this.#recordOf(name, entry) } : {}
  }

  /** The token of a grant made here is known, also after the end of its session. Another process may have raised it. */
  #recordOf(name: string, entry: SeenEntry, standing = standingOf(entry)): LeaseRecord {
    const written = this.#locks.writtenFor(name, entry.value?.grantId)
    return recordOf(name, entry, entry.value?.token ?? tokenOf(written ?? entry), standing)
  }

  /** Refuses a grant: the lock of a holder whose session has ended stays in force for `remaining` milliseconds. */
  #vacated(name: string, entry: SeenEntry, remaining: number): AcquireOutcome {
    const standing: Standing = { state: 'leased', ...(entry.value === undefined ? {} : { remaining }) }
    return { granted: false, holder: this.#recordOf(name, entry, standing) }
  }

  #inRounds<T>(name: string, call: StoreCall, round: (isFirst: boolean) => Promise<T | undefined>): Promise<T> {
    return inRounds(name, { store: this.kind, leaseName: name }, async (isFirst) => {
      this.#checks.usable(call)
      return await round(isFirst)
    })
  }
}
