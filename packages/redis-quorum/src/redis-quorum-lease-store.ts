import {
  type Grant,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  type Metadata,
  systemClock,
} from '@leasehold/core'
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
import { FirstUseProbe, systemRandom } from '@leasehold/core/store-kit'
import type { RedisClient, RedisLeaseStoreOptions } from '@leasehold/redis'
import { checkStoreOptions, RedisMember, TOKEN_LIMIT } from '@leasehold/redis/internal'
import { Acquisition, type Round, refusedBy } from './acquisition.js'
import { Cleanup } from './cleanup.js'
import { Electorate, type QuorumMember } from './electorate.js'
import { FencingTokens } from './fencing-tokens.js'
import { Heartbeats } from './heartbeats.js'
import { type Broken, breakOutcome, grantOutcome, type ReadOutcome, readOutcome, releaseOutcome } from './outcomes.js'
import { conditionsOfMembers, probeServers } from './probe.js'
import { KIND, undecided } from './tally.js'

const DAY = 86_400_000

/**
 * Leases on a majority of three, five or more independent Redis servers, each a master without replicas. A lease is granted
 * and renewed only while a majority can be reached.
 *
 * A server that has lost data must stay away until all leases that it may have forgotten have expired: otherwise it could be
 * part of a second majority. The clocks of the servers must not be set while they run, because leases expire by them.
 *
 * Fencing tokens grow with every grant. A server that has lost all its data gives no token before it has learned from a
 * majority of the others how large the tokens are. If a server comes back with older data, tokens grow if the clocks of the
 * servers differ by less than the time that it stayed away.
 *
 * Waiters poll, and are served in any order. There are no leases without expiry: a server that missed a release would stay
 * locked. The store cannot list names.
 */
export class RedisQuorumLeaseStore implements LeaseStore {
  readonly kind = KIND
  /** A grant takes two round trips: little would be left of a ttl below `minTtl`. */
  readonly limits: StoreLimits = { minTtl: 100, maxTtl: 366 * DAY, infinite: false, ordered: false }
  readonly #electorate: Electorate
  readonly #tokens: FencingTokens
  readonly #cleanup: Cleanup
  readonly #heartbeats: Heartbeats
  readonly #checks = new StoreChecks(KIND, this.limits)
  readonly #probe: FirstUseProbe

  /** Throws a `LeaseConfigurationError` for an unknown option, fewer than three clients, an even number, or the same client twice. */
  constructor(clients: readonly RedisClient[], options?: RedisLeaseStoreOptions)
  /** @internal */
  constructor(members: readonly QuorumMember[], options?: RedisLeaseStoreOptions)
  constructor(servers: readonly (RedisClient | QuorumMember)[], options: RedisLeaseStoreOptions = {}) {
    checkStoreOptions('RedisQuorumLeaseStore', options, KIND)
    checkServers(servers)
    const { clock = systemClock, random = systemRandom } = options
    const members = servers.map((server) => ('repair' in server ? server : new RedisMember(server, options)))
    this.#electorate = new Electorate(members, clock, random)
    this.#probe = new FirstUseProbe(KIND, options.probe ?? true, (name, call) =>
      conditionsOfMembers(this.#electorate, name, call),
    )
    this.#tokens = new FencingTokens(this.#electorate)
    this.#cleanup = new Cleanup(this.#electorate)
    this.#heartbeats = new Heartbeats(this.#electorate, this.#tokens)
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, owner, ttl, grantId: proposed } = request
    this.#checks.acquire(request, call)
    if (this.#probe.isDue) await this.#probe.require(name, call)
    const { ids } = this.#cleanup
    const grantId = ids.idOf(proposed)
    const acquisition = new Acquisition(this.#electorate, this.#tokens, { ...request, grantId })
    let outcome: AcquireOutcome | undefined
    try {
      outcome = await acquisition.run(call)
      if (!outcome.granted) return outcome
      // A concurrent request under the same id has failed, and takes its attempt back.
      if (ids.isAbandoned(grantId)) {
        const message = `the request for lease '${name}' was taken back meanwhile: try again`
        throw new LeaseUnavailableError(message, { leaseName: name, store: KIND })
      }
      this.#heartbeats.begin(grantId)
      return outcome
    } finally {
      // A grant that is already held stays held, even if it could not be confirmed again.
      const places = outcome?.granted !== true && !this.#heartbeats.isHeld(grantId) ? acquisition.abandon() : []
      if (places.length > 0) this.#cleanup.begin(proposed, { name, owner, grantId, fencingToken: 0n, ttl }, places)
    }
  }

  /** Restarts the recorded ttl, if a majority has the grant. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    return await this.#heartbeats.renew(grant, call)
  }

  /** Sends one call to each server, or few. An error stands for each unknown outcome. */
  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    this.#checks.usable(call)
    return await this.#heartbeats.renewMany(grants, call)
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return await this.#heartbeats.update(grant, metadata, call)
  }

  /**
   * Certain when a majority has the token. Rejects a token of 9,000,000,000,000,000 or more: the servers count in doubles. Later
   * tokens of all names are larger.
   */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call, TOKEN_LIMIT)
    return await this.#heartbeats.raiseToken(grant, token, call)
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    const { name, grantId } = grant
    this.#checks.release(grant, call, metadata)
    const left = metadata === undefined ? undefined : this.#heartbeats.stamp(grant, metadata)
    this.#heartbeats.end(grantId)
    this.#cleanup.ids.forget(grantId)
    return await this.#electorate.poll<ReleaseOutcome, ReleaseOutcome>(call, {
      ask: (member, own) => member.release(grant, own, left),
      decide: (tally) => releaseOutcome({ operation: 'release', leaseName: name }, tally),
    })
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    const isAbandoned = (grantId: string): boolean => this.#cleanup.ids.isAbandoned(grantId)
    const { record } = await this.#electorate.poll<LeaseRecord | undefined, ReadOutcome>(call, {
      ask: (member, own) => member.read(name, own),
      decide: (tally) => readOutcome({ operation: 'read', leaseName: name }, tally, isAbandoned),
    })
    return record
  }

  /** A change without a majority is not taken back: it is completed when it is repeated; otherwise it expires. */
  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.change(grant, to, call)
    const { name, ttl } = grant
    const question = { operation: 'change', leaseName: name }
    const { outcome, tally } = await this.#electorate.poll<AcquireOutcome, Round>(call, {
      ask: (member, whole, place) => {
        return this.#tokens.ask(place, name, whole, (own) => member.change(grant, to, own))
      },
      decide: (votes) => {
        const found = grantOutcome(question, votes)
        if (found?.type !== 'split' || found.isCertain) return found && { outcome: found, tally: votes }
        if (votes.isFinal) throw undecided(question, votes)
        return undefined
      },
    })
    if (outcome.type !== 'granted') return refusedBy(outcome.type === 'refused' ? outcome.holder : undefined)
    const passed = await this.#tokens.confirm(question, tally, { ...to, name, ttl }, call)
    this.#heartbeats.end(grant.grantId)
    return passed
  }

  /** The reason is kept in the metadata, as `breakReason`, until the next grant. */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    this.#checks.break(name, options, call)
    return await this.#electorate.poll<Broken, { remaining: number }>(call, {
      ask: async (member, own) => {
        try {
          return await member.break(name, options, own)
        } catch (error) {
          if (error instanceof LeaseConflictError) return 'nothing'
          throw error
        }
      },
      decide: (tally) => breakOutcome({ operation: 'break', leaseName: name }, tally),
    })
  }

  /** Asks the servers for their configuration. Writes nothing. */
  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    return await probeServers(this.#electorate, 'leasehold-doctor', call)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  /** Waits up to a second for requests that are being taken back. */
  async close(): Promise<void> {
    this.#checks.close()
    await this.#cleanup.ended()
    for (const member of this.#electorate.members) member.close()
  }
}

function checkServers(servers: readonly unknown[]): void {
  const { length } = servers
  if (length < 3) throw unfit(`a quorum needs three servers or more, not ${length}: use RedisLeaseStore for one server`)
  if (length % 2 === 0) {
    throw unfit(`a quorum needs an odd number of servers: ${length} survive no more losses than ${length - 1} do`)
  }
  if (new Set(servers).size < length)
    throw unfit('a quorum needs a different client for each server: one is given twice')
}

function unfit(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: KIND })
}
