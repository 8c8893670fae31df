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
  LeaseUnavailableError,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import type { RedisClient } from '../client/redis-client.js'
import { RedisLeaseStore, type RedisLeaseStoreOptions } from '../redis-lease-store.js'
import { Acquisition } from './acquisition.js'
import { agreedToken } from './agreed-token.js'
import { AttemptIds } from './attempt-ids.js'
import { breakVerdict } from './break-verdict.js'
import { Electorate } from './electorate.js'
import { Floors } from './floors.js'
import { grantVerdict } from './grant-verdict.js'
import { Heartbeats } from './heartbeats.js'
import { Leftovers } from './leftovers.js'
import type { QuorumMember } from './quorum-member.js'
import { type ReadVerdict, readVerdict } from './read-verdict.js'
import { releaseVerdict } from './release-verdict.js'
import { closedError, KIND, type Question, undecided } from './undecided.js'

const DAY = 86_400_000

/**
 * Leases that are held by a majority of independent Redis servers, an odd number from three on: each a master of its
 * own, none a replica of another. Held and renewed while a majority is reachable, whichever servers are slow, frozen or
 * dead; nobody is granted a lease without one.
 *
 * It asks two things of the servers. A server that has lost data stays away until all leases that it may have forgotten
 * have expired: otherwise it could be part of a second majority. And their clocks are not set while they run, because leases
 * expire by them.
 *
 * Fencing tokens grow with every grant, although each server counts by itself. A server that has lost all its data gives no
 * token before it has learned from a majority of the others how large the tokens are: until then it is no part of a
 * majority. A server that comes back with older data does not notice it: tokens then grow if the clocks of the servers differ
 * by less than the time that it stayed away.
 *
 * Waiters poll, and are served in any order. No lease is without expiry: a lease that a server has missed to free would stay
 * locked there.
 */
export class RedisQuorumStore implements LeaseStore {
  readonly kind = KIND
  /** A grant takes two round trips: of a ttl below `minTtl` little would be left. */
  readonly limits: StoreLimits = { minTtl: 100, maxTtl: 366 * DAY, infinite: false, ordered: false }
  readonly #electorate: Electorate
  readonly #clock: Clock
  readonly #floors: Floors
  readonly #ids: AttemptIds
  readonly #leftovers: Leftovers
  readonly #heartbeats: Heartbeats
  /** The ids of the grants that are held through this store, as far as it was told. */
  readonly #held = new Set<string>()
  readonly #closing = new AbortController()

  /**
   * One client a server. Throws a `LeaseConfigurationError` where they are fewer than three, an even number, or where one
   * is there twice.
   */
  constructor(clients: readonly RedisClient[], options?: RedisLeaseStoreOptions)
  /** @internal */
  constructor(members: readonly QuorumMember[], options?: RedisLeaseStoreOptions)
  constructor(servers: readonly (RedisClient | QuorumMember)[], options: RedisLeaseStoreOptions = {}) {
    checkServers(servers)
    const { clock = systemClock } = options
    const members = servers.map((server) => ('raise' in server ? server : memberOf(server, options)))
    this.#clock = clock
    this.#electorate = new Electorate(members, clock)
    this.#floors = new Floors(this.#electorate, clock)
    this.#ids = new AttemptIds(clock)
    this.#leftovers = new Leftovers(this.#electorate, clock)
    this.#heartbeats = new Heartbeats(this.#electorate, this.#floors, clock, this.#held)
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome> {
    this.#checkTtl(request)
    this.#checkOpen()
    const grantId = this.#ids.idOf(request.grantId)
    const acquisition = new Acquisition(this.#electorate, this.#floors, this.#clock, { ...request, grantId })
    let outcome: AcquireOutcome | undefined
    try {
      outcome = await acquisition.run(signal)
      if (!outcome.granted) return outcome
      // By another request under the same id, made beside this one.
      if (this.#ids.isAbandoned(grantId)) throw takenBack(request.name)
      this.#held.add(grantId)
      return outcome
    } finally {
      // What was granted under this id before, and is held, is not taken back because it could not be confirmed again.
      if (outcome?.granted !== true && !this.#held.has(grantId)) this.#takeBack(request, grantId, acquisition.abandon())
    }
  }

  /** Starts the recorded ttl anew, where a majority has the grant. */
  async renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    this.#checkOpen()
    return await this.#heartbeats.renew(grant, signal)
  }

  /** In one call a server, or in few; an error stands for each whose outcome is unknown. */
  async renewMany(grants: readonly Grant[], signal: AbortSignal): Promise<readonly (RenewOutcome | Error)[]> {
    this.#checkOpen()
    return await this.#heartbeats.renewMany(grants, signal)
  }

  async release(grant: Grant, signal: AbortSignal): Promise<ReleaseOutcome> {
    this.#checkOpen()
    this.#held.delete(grant.grantId)
    this.#ids.forget(grant.grantId)
    const question: Question = { operation: 'release', leaseName: grant.name }
    return await this.#electorate.poll<ReleaseOutcome, ReleaseOutcome>(
      {
        ask: (member, limit) => member.release(grant, limit),
        decide: (tally) => releaseVerdict(question, tally),
      },
      signal,
    )
  }

  async read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    this.#checkOpen()
    const question: Question = { operation: 'read', leaseName: name }
    const { record } = await this.#electorate.poll<LeaseRecord | undefined, ReadVerdict>(
      {
        ask: (member, limit) => member.read(name, limit),
        decide: (tally) => readVerdict(question, tally, (grantId) => this.#ids.isAbandoned(grantId)),
      },
      signal,
    )
    return record
  }

  /** What no majority came of is left: repeated, it is completed; else it expires. */
  async change(
    grant: Grant,
    to: { readonly grantId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<AcquireOutcome> {
    this.#checkOpen()
    const { name, ttl } = grant
    const question: Question = { operation: 'change', leaseName: name }
    const { verdict, tally } = await this.#electorate.poll(
      {
        ask: (member, limit, place) => this.#floors.ask(place, name, () => member.change(grant, to, limit)),
        decide: (votes) => {
          const found = grantVerdict(question, votes)
          const isOpen = found?.type === 'split' && !found.isCertain && !votes.isFinal
          return found === undefined || isOpen ? undefined : { verdict: found, tally: votes }
        },
      },
      signal,
    )
    if (verdict.type === 'failed') throw verdict.error
    if (verdict.type === 'split' && !verdict.isCertain) throw undecided(question, tally)
    if (verdict.type !== 'granted') {
      return { granted: false, ...('holder' in verdict ? { holder: verdict.holder } : {}) }
    }
    const passed = { ...to, name, ttl }
    const fencingToken = await agreedToken(this.#electorate, question, tally, passed, signal)
    this.#floors.note(fencingToken)
    this.#held.delete(grant.grantId)
    return { granted: true, grant: { ...passed, fencingToken } }
  }

  /** The reason is kept in the metadata, as `breakReason`, until the next grant. */
  async break(name: string, options: BreakOptions, signal: AbortSignal): Promise<{ remaining: number }> {
    this.#checkOpen()
    const question: Question = { operation: 'break', leaseName: name }
    return await this.#electorate.poll(
      {
        ask: async (member, limit) => {
          try {
            return await member.break(name, options, limit)
          } catch (error) {
            if (error instanceof LeaseConflictError) return 'nothing'
            throw error
          }
        },
        decide: (tally) => breakVerdict(question, tally),
      },
      signal,
    )
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Within a second: requests that came to nothing are still being taken back. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#leftovers.ended()
    await Promise.all(this.#electorate.members.map((member) => member.close()))
  }

  #takeBack(
    { name, owner, ttl, grantId: proposed }: AcquireRequest,
    grantId: string,
    places: ReadonlySet<number>,
  ): void {
    if (places.size === 0) return
    this.#ids.abandon(proposed)
    this.#leftovers.free({ name, owner, grantId, fencingToken: 0n, ttl }, places)
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw closedError()
  }

  #checkTtl({ name, ttl }: AcquireRequest): void {
    const { minTtl, maxTtl } = this.limits
    if (ttl >= minTtl && ttl <= maxTtl) return
    const message = `the ttl must be ${minTtl} to ${maxTtl} ms, not ${ttl}`
    throw new LeaseConfigurationError(message, { leaseName: name, store: KIND })
  }
}

function checkServers(servers: readonly unknown[]): void {
  const { length } = servers
  if (length < 3) {
    throw new LeaseConfigurationError(
      `a quorum needs three servers or more, not ${length}: for one server take RedisLeaseStore`,
      { store: KIND },
    )
  }
  if (length % 2 === 0) {
    throw new LeaseConfigurationError(
      `${length} servers survive the loss of no more of them than ${length - 1} do: take an odd number`,
      { store: KIND },
    )
  }
  if (new Set(servers).size < length) {
    throw new LeaseConfigurationError('a client is there twice: each server of a quorum has one vote', { store: KIND })
  }
}

function takenBack(leaseName: string): LeaseUnavailableError {
  return new LeaseUnavailableError(`the request for lease '${leaseName}' was taken back meanwhile: try again`, {
    leaseName,
    store: KIND,
  })
}

function memberOf(client: RedisClient, options: RedisLeaseStoreOptions): QuorumMember {
  const store = new RedisLeaseStore(client, options, 'member')
  if (hasRenewMany(store)) return store
  throw new LeaseConfigurationError(
    'the servers of a quorum are independent of one another: give no client of a cluster',
    {
      store: KIND,
    },
  )
}

function hasRenewMany(store: RedisLeaseStore): store is RedisLeaseStore & QuorumMember {
  return store.renewMany !== undefined
}
