import { type Clock, type Grant, type LeaseRecord, type Metadata, systemClock } from '@leasehold/core'
import type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  ReleaseOutcome,
  RenewOutcome,
  StoreCall,
} from '@leasehold/core/store'
import { anotherGrant, nothingToBreak, systemRandom } from '@leasehold/core/store-kit'
import { nanoid } from 'nanoid'
import {
  type Answer,
  acquireOutcome,
  durationIn,
  leftIn,
  type ReadLeft,
  recordIn,
  releaseOutcome,
  renewOutcome,
  toDuration,
  toGrantId,
  toRenewal,
} from './answers.js'
import { adapterFor } from './client/client-adapter.js'
import { LazyConnection } from './client/lazy-connection.js'
import type { RedisClient } from './client/redis-client.js'
import { compatLua } from './compat/compat-script.js'
import { OldLock } from './compat/old-lock.js'
import { KeySpace } from './key-space.js'
import { listRecords } from './listing.js'
import { OperationQueue, type Request } from './operation-queue.js'
import { type ServerInfo, serverInfo } from './probe.js'
import { misconfigured, type RedisLeaseStoreOptions } from './redis-options.js'
import { type LeaseScript, leaseScript, leaseScriptWith } from './script/lease-script.js'

const DAY = 86_400_000

/**
 * The first token that is too large for a raise. The script counts in doubles, which are exact to 2^53 = 9,007,199,254,740,992:
 * the rest is for later grants.
 */
export const TOKEN_LIMIT = 9_000_000_000_000_000n

/** How often a waiter asks, in milliseconds, where the client cannot subscribe and there is no `pollInterval`. */
const POLL_INTERVAL = 1_000

/** For how many intervals a waiter that polls keeps its place: if it is dead, its turn is over then. */
const PLACE_POLLS = 5

/** The script of a server, and how its answers are read. */
interface Dialect {
  readonly script: LeaseScript
  /** The script for a store that holds the keys of another lock, too. */
  readonly scriptWith: (compat: string) => LeaseScript
  /** Whether the last key of each call is that of the floor of the fencing tokens. */
  readonly hasFloor: boolean
  readonly readLeft: ReadLeft
}

const USUAL: Dialect = { script: leaseScript, scriptWith: leaseScriptWith, hasFloor: false, readLeft: leftIn }

/**
 * The operations of the script over connections of their own, which have the options of the given client. One round trip
 * each. They check no arguments: the stores do.
 */
export class LeaseOperations {
  readonly clock: Clock
  readonly random: () => number
  /** The channel for messages of the server; where the client cannot subscribe, `-` and how long a waiter keeps its place. */
  readonly channel: string
  /** How often a waiter asks, in milliseconds, where the client cannot subscribe. */
  readonly pollInterval: number | undefined
  readonly keys: KeySpace
  /** Whether one call can have several names: in a cluster only if all of them are in one slot. */
  readonly areTogether: boolean
  readonly #openConnection: () => LazyConnection
  readonly #connection: LazyConnection
  readonly #queue: OperationQueue
  readonly #readLeft: ReadLeft
  readonly #oldLock: OldLock | undefined

  constructor(client: RedisClient, options: RedisLeaseStoreOptions, dialect = USUAL) {
    const { prefix = 'leasehold:', recordLife = 7 * DAY, clock = systemClock, random = systemRandom } = options
    if (!(recordLife >= 1_000 && recordLife <= 36_600 * DAY)) {
      throw misconfigured(`recordLife must be at least 1000 ms and finite, not ${recordLife}`)
    }
    const { hasFloor, readLeft } = dialect
    const adapter = adapterFor(client, random, clock)
    const { clustered, subscribes, keyPrefix } = adapter
    this.pollInterval = subscribes ? undefined : pollIntervalOf(options)
    if (subscribes && options.pollInterval !== undefined) {
      throw misconfigured(
        'pollInterval is for clients without a subscription: omit it, because the server notifies waiters',
      )
    }
    this.clock = clock
    this.random = random
    this.channel =
      this.pollInterval === undefined ? `${keyPrefix}${prefix}turns:${nanoid()}` : `-${PLACE_POLLS * this.pollInterval}`
    this.keys = new KeySpace(keyPrefix + prefix)
    this.areTogether = !clustered || this.keys.areTogether
    this.#openConnection = () => new LazyConnection(adapter, clock)
    this.#connection = this.#openConnection()
    this.#readLeft = readLeft
    this.#oldLock = options.compat === undefined ? undefined : new OldLock(options.compat, adapter)
    const script = this.#oldLock === undefined ? dialect.script : dialect.scriptWith(compatLua(this.#oldLock.library))
    const floorKey = hasFloor ? this.keys.floorKey : undefined
    const context = { script, recordLife: Math.ceil(recordLife), channel: this.channel, clustered, floorKey }
    this.#queue = new OperationQueue(this.#connection, clock, context)
  }

  newConnection(): LazyConnection {
    return this.#openConnection()
  }

  /** The claim takes a place in the queue if there is an `onAnswer`. */
  acquire(
    request: AcquireRequest,
    call: StoreCall,
    onAnswer?: (outcome: AcquireOutcome, answer: Answer) => void,
  ): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, metadata } = request
    const kept = metadata === undefined ? '' : JSON.stringify(metadata)
    const place = onAnswer === undefined ? 'once' : 'queue'
    const args = `${toGrantId(grantId)} ${toDuration(ttl)} ${place} ${kept}\n${owner}`
    return this.run('acquire', name, args, call, (answer) => {
      const outcome = acquireOutcome(answer, request, this.#readLeft)
      onAnswer?.(outcome, answer)
      return outcome
    })
  }

  renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    return this.run('renew', grant.name, toRenewal(grant), call, renewOutcome)
  }

  /** Renews in few calls. An error stands for each unknown outcome. */
  renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    const toRequest = (grant: Grant) => this.#request('renew', grant.name, toRenewal(grant), renewOutcome)
    if (this.#oldLock === undefined) return this.#queue.runMany(grants.map(toRequest), call)
    return this.#renewSeveral(grants, toRequest, call)
  }

  update({ name, grantId, fencingToken }: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    const args = `${toGrantId(grantId)} ${fencingToken} ${JSON.stringify(metadata)}`
    return this.run('update', name, args, call, renewOutcome)
  }

  raiseToken({ name, grantId, fencingToken }: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    return this.run('raise', name, `${toGrantId(grantId)} ${fencingToken} ${token}`, call, renewOutcome)
  }

  release({ name, grantId, fencingToken }: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    const left = metadata === undefined ? '' : ` ${fencingToken} ${JSON.stringify(metadata)}`
    return this.run('release', name, toGrantId(grantId) + left, call, releaseOutcome)
  }

  read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    return this.run('read', name, '', call, this.#toRecord)
  }

  list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    const toRequest = (name: string) => this.#request('read', name, '', this.#toRecord)
    const readPage = (names: readonly string[]) => this.#queue.runMany(names.map(toRequest), call)
    return listRecords(this.#connection, this.keys, prefix, readPage, call)
  }

  change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    const args = `${toGrantId(grant.grantId)} ${toGrantId(to.grantId)} ${to.owner}`
    return this.grant('change', { ...grant, ...to }, args, call)
  }

  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    const { period = Number.POSITIVE_INFINITY, reason = '', grantId } = options
    const id = grantId === undefined ? '%any' : toGrantId(grantId)
    return await this.run('break', name, `${toDuration(period)} ${id} ${reason}`, call, ([word, remaining = '']) => {
      if (word === 'broken') return { remaining: durationIn(remaining) }
      throw word === 'other' ? anotherGrant(name, 'redis') : nothingToBreak(name, 'redis')
    })
  }

  withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    return this.run('withdraw', name, toGrantId(grantId), call, () => undefined)
  }

  /** For a number of milliseconds, the server sends a message over the channel when the name may be free. */
  watch(name: string, period: number, call: StoreCall): Promise<LeaseRecord | undefined> {
    return this.run('watch', name, String(period), call, this.#toRecord)
  }

  /** What the server says of itself: of a cluster, the node of the name. Writes nothing. */
  probe(name: string, call: StoreCall): Promise<ServerInfo> {
    return this.run('probe', name, '', call, serverInfo)
  }

  close(): void {
    this.#queue.close()
    this.#connection.close()
  }

  /** An operation whose answer is a grant. */
  grant(operation: string, claim: Omit<Grant, 'fencingToken'>, args: string, call: StoreCall): Promise<AcquireOutcome> {
    return this.run(operation, claim.name, args, call, (answer) => acquireOutcome(answer, claim, this.#readLeft))
  }

  run<T>(
    operation: string,
    name: string,
    args: string,
    call: StoreCall,
    toOutcome: Request<T>['toOutcome'],
  ): Promise<T> {
    return this.#queue.run(this.#request(operation, name, args, toOutcome), call)
  }

  /** The user names the other keys: where that fails, it costs only its own lease. */
  async #renewSeveral(
    grants: readonly Grant[],
    toRequest: (grant: Grant) => Request<RenewOutcome>,
    call: StoreCall,
  ): Promise<readonly (RenewOutcome | Error)[]> {
    const named = grants.map((grant) => {
      try {
        return toRequest(grant)
      } catch (error) {
        return error as Error
      }
    })
    const sent = named.filter((request): request is Request<RenewOutcome> => !(request instanceof Error))
    const outcomes = (await this.#queue.runMany(sent, call)).values()
    return named.map((request) =>
      request instanceof Error ? request : (outcomes.next().value as RenewOutcome | Error),
    )
  }

  readonly #toRecord = (answer: Answer, name: string) => recordIn(answer, name, this.#readLeft)

  #request<T>(operation: string, leaseName: string, args: string, toOutcome: Request<T>['toOutcome']): Request<T> {
    const key = this.keys.keyOf(leaseName)
    // A probe is about no lease: the user's function must not see its name.
    const oldKey = operation === 'probe' ? this.#oldLock && key : this.#oldLock?.keyOf(leaseName, key)
    return { operation, leaseName, key, oldKey, args, toOutcome }
  }
}

function pollIntervalOf({ pollInterval = POLL_INTERVAL }: RedisLeaseStoreOptions): number {
  if (pollInterval >= 100 && pollInterval <= 60_000) return Math.ceil(pollInterval)
  throw misconfigured(`pollInterval must be 100 ms to 60000 ms, not ${pollInterval}`)
}
