import type { Grant, LeaseRecord, LeaseStore, Metadata } from '@leasehold/core'
import type { StoreLimits } from '@leasehold/core/store'
import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreCall,
  StoreChecks,
  type StoreFinding,
} from '@leasehold/core/store'
import { checkOptionNames, listingText, type OptionNames } from '@leasehold/core/store-kit'
import { Breaking } from './breaking.js'
import { Claims } from './claims.js'
import { EtcdClient, type EtcdClientOptions } from './client/etcd-client.js'
import { isNoSpace } from './client/rpc-error.js'
import { failureOf } from './failure-of.js'
import { Heartbeats } from './heartbeats.js'
import { KeySpace } from './key-space.js'
import { listRecords } from './listing.js'
import { holderIn, lockIn, type NameState, tokenOf, toWholeRecord } from './name-state.js'
import { NameTable, type Plan } from './name-table.js'
import { probeCluster } from './probe.js'
import { ServerLeases } from './server-leases.js'
import { Turns } from './turns.js'

const DAY = 86_400_000

const RELEASED: ReleaseOutcome = Object.freeze({ released: true })

export interface EtcdLeaseStoreOptions {
  /** The beginning of all keys; `leasehold/` unless given. */
  readonly prefix?: string | undefined
}

const optionNames: OptionNames<EtcdLeaseStoreOptions> = { prefix: true }

/**
 * Leases on etcd. The key of a holder is attached to a lease of the server, which all grants of the store with the same ttl
 * share. The record of a name outlasts its grants. A lease expires by the clock of the leader of the cluster.
 *
 * A fencing token is the revision of the write that made the grant. It grows with every write to the cluster, so that it
 * also grows after a record was deleted. A token that was raised above the revisions is in the record: see `raiseToken`.
 */
export class EtcdLeaseStore implements LeaseStore {
  readonly kind = 'etcd'
  readonly limits: StoreLimits = {
    minTtl: 1_000,
    maxTtl: 366 * DAY,
    infinite: true,
    ordered: true,
    // A lease of the server lasts for whole seconds, and the server looks for expired ones twice a second.
    frees: { ttls: 1, extra: 2_400 },
  }
  readonly #client: EtcdClient
  readonly #ownsClient: boolean
  readonly #keys: KeySpace
  readonly #names: NameTable
  readonly #leases: ServerLeases
  readonly #heartbeats: Heartbeats
  readonly #claims: Claims
  readonly #breaking: Breaking
  readonly #turns: Turns
  readonly #checks: StoreChecks

  /** A client that is given stays open when the store is closed; one that the store makes of options does not. */
  constructor(client: EtcdClient | EtcdClientOptions, options: EtcdLeaseStoreOptions = {}) {
    checkOptionNames('EtcdLeaseStore', options, optionNames, { store: this.kind })
    this.#ownsClient = !(client instanceof EtcdClient)
    this.#client = client instanceof EtcdClient ? client : new EtcdClient(client)
    this.#keys = new KeySpace(options.prefix ?? 'leasehold/')
    this.#names = new NameTable(this.#client, this.#keys)
    this.#leases = new ServerLeases(this.#client)
    this.#heartbeats = new Heartbeats(this.#client, this.#names, this.#leases)
    this.#claims = new Claims(this.#client, this.#names, this.#leases, this.#heartbeats)
    this.#breaking = new Breaking(this.#names, this.#leases)
    this.#turns = new Turns(this.#client, this.#names)
    this.#checks = new StoreChecks(this.kind, this.limits)
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    return await this.#run('acquire', request.name, call, () => this.#claims.acquire(request, call))
  }

  /** Extends the server lease of the grant, and then looks at its key. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    const [outcome] = await this.#run('renew', grant.name, call, () => this.#heartbeats.renew([grant], call))
    if (outcome === undefined || outcome instanceof Error) throw this.#failure('renew', grant.name, outcome, call)
    return outcome
  }

  /** Sends one keep-alive for each ttl, and for each hundred grants one transaction, which writes nothing. */
  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    this.#checks.usable(call)
    const outcomes = await this.#run('renew', grants[0]?.name ?? '', call, () => this.#heartbeats.renew(grants, call))
    return outcomes.map((outcome, place) => {
      return outcome instanceof Error ? failureOf('renew', grants[place]?.name ?? '', outcome) : outcome
    })
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return await this.#run('update', grant.name, call, () => this.#heartbeats.update(grant, { ...metadata }, call))
  }

  /**
   * Writes the token into the record of the name, which a release and an expiry leave there. Later grants count on from it,
   * one by one, until the revision has passed it. The raise is lost if the record is deleted, and with the next grant by a
   * version of this package without this method: the token of a grant is then a revision again, which may be smaller. On a
   * database that is full, it is rejected and changes nothing.
   */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call)
    return await this.#run('raise', grant.name, call, () => this.#heartbeats.raiseToken(grant, token, call))
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checks.release(grant, call, metadata)
    return await this.#run('release', grant.name, call, async () => {
      const release = (leavesRecord: boolean) =>
        this.#names.carryOut(grant.name, undefined, call, (state) => releasing(grant, state, metadata, leavesRecord))
      const outcome = await release(true).catch((error: unknown) => {
        // A full database takes no record, but the key of the lock can be deleted.
        if (!isNoSpace(error) || metadata !== undefined) throw error
        return release(false)
      })
      this.#leases.detach(grant.grantId)
      return outcome
    })
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    return await this.#run('read', name, call, async () => {
      const state = await this.#names.read(name, undefined, call)
      return toWholeRecord(name, state, await this.#leases.remaining(state.first, call))
    })
  }

  /** Reads pages of 500 keys, all of one revision. */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    this.#checks.usable(call)
    try {
      yield* listRecords({ client: this.#client, keys: this.#keys, leases: this.#leases }, prefix, call)
    } catch (error) {
      throw this.#failure(listingText(prefix), '', error, call)
    }
  }

  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.change(grant, to, call)
    return await this.#run('change', grant.name, call, () => this.#claims.change(grant, to, call))
  }

  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ readonly remaining: number }> {
    this.#checks.break(name, options, call)
    return await this.#run('break', name, call, () => this.#breaking.break(name, options, call))
  }

  async withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    this.#checks.name(name, call)
    return await this.#run('withdraw', name, call, () => this.#claims.withdraw(name, grantId, call))
  }

  /**
   * With the grant id of a request that has a place in the queue, yields when it is that waiter's turn: it watches only the
   * key before its own. Without a grant id, yields when the name is free, and after each end of a grant.
   */
  async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    this.#checks.name(name)
    try {
      const turns = grantId === undefined ? this.#turns.ofName(name, call) : this.#turns.ofWaiter(name, grantId, call)
      for await (const turn of turns) {
        // The client may stay open when the store is closed.
        this.#checks.usable()
        yield turn
      }
    } catch (error) {
      if (!call.aborted) throw this.#failure('watch', name, error, call)
    }
  }

  /**
   * Compares the metrics of the members, where they show them without TLS, before and after a write: that of a server lease
   * without a key, which ends by itself.
   */
  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    return await this.#run('the check of the cluster', '', call, () => probeCluster(this.#client, call))
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  close(): Promise<void> {
    if (this.#checks.close()) {
      this.#turns.close()
      if (this.#ownsClient) this.#client.close()
    }
    return Promise.resolve()
  }

  async #run<T>(operation: string, name: string, call: StoreCall, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#failure(operation, name, error, call)
    }
  }

  #failure(operation: string, name: string, error: unknown, call: StoreCall): unknown {
    if (call.aborted) return call.signal.reason
    this.#checks.usable()
    return failureOf(operation, name, error)
  }
}

/**
 * Frees the lock. Without `leavesRecord`, no record is written: the grant then looks as if it had expired. The record that is
 * there stays, with a token that was raised.
 */
function releasing(
  { name, grantId, fencingToken }: Grant,
  state: NameState,
  metadata: Metadata | undefined,
  leavesRecord: boolean,
): Plan<ReleaseOutcome> {
  const { note } = state
  if (note === undefined || note.grantId !== grantId || note.state === 'available') {
    return { outcome: { released: false, ...holderIn(name, state) } }
  }
  const { previous: _, breakReason, ...kept } = note
  // A late duplicate of a claim can be granted again, under the same id: its metadata stays.
  const isKept = metadata === undefined || tokenOf(note) > fencingToken
  const left = isKept ? { ...(breakReason === undefined ? {} : { breakReason }) } : { metadata }
  const lock = lockIn(state)
  const freed = lock === undefined ? {} : { freed: lock.key }
  const record = leavesRecord ? { note: { ...kept, ...left, state: 'available' } as const } : {}
  return { changes: { ...record, ...freed }, done: () => RELEASED }
}
