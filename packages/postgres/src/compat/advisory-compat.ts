import { type Clock, type Grant, isLocked, type LeaseRecord } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, ReleaseOutcome, RenewOutcome, StoreCall } from '@leasehold/core/store'
import type { OpenSession } from '../client/connection.js'
import { failureOf } from '../failure-of.js'
import { misconfigured } from '../postgres-options.js'
import { AdvisoryKeys, type PostgresCompat } from './advisory-key.js'
import { AdvisorySession } from './advisory-session.js'

/** The operations of the store on leases alone. */
export interface LeasesAlone {
  acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome>
  renew(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]>
  release(grant: Grant, call: StoreCall): Promise<ReleaseOutcome>
  read(name: string, call: StoreCall): Promise<LeaseRecord | undefined>
}

/**
 * Holds an advisory lock beside each lease, while processes that use only the lock are being replaced.
 *
 * The lock is taken after the lease, and freed before it, so that at most one process with leases asks for the lock. There is
 * no deadlock, because nobody waits here: the lock is tried, and where another has it, the claim is refused. An old process
 * may wait for the lock while it holds other locks, but never for a lease.
 *
 * Before a claim, it looks whether an old process has the lock. Otherwise each claim would be granted and given back, which
 * would wake the next waiter, and so on without an end.
 */
export class AdvisoryCompat {
  readonly #keys: AdvisoryKeys
  readonly #session: AdvisorySession
  readonly #leases: LeasesAlone

  constructor(
    compat: PostgresCompat['library'] | PostgresCompat,
    open: OpenSession | undefined,
    clock: Clock,
    leases: LeasesAlone,
  ) {
    this.#keys = new AdvisoryKeys(compat)
    if (open === undefined) {
      throw misconfigured(
        'compat needs a connection of its own, which only a Pool of pg gives: pass one to the store, or as listen',
      )
    }
    this.#session = new AdvisorySession(open, clock)
    this.#leases = leases
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId, ttl } = request
    const args = this.#keys.argumentsOf(name)
    if (!this.#session.isHeld(grantId)) {
      const holder = await this.#oldHolder(name, args, call)
      if (holder !== undefined) return { granted: false, holder }
    }
    const outcome = await this.#leases.acquire(request, call)
    if (!outcome.granted) return outcome
    if (await this.#about('acquire', name, call, () => this.#session.lock(grantId, args, ttl, call))) return outcome
    // Not released: that could arrive after the claim was repeated and granted, and free the lease under its holder.
    return { granted: false, left: true, holder: oldHolder(name, outcome.grant.fencingToken) }
  }

  /** A lease whose lock is lost ends: an old process may have the lock. */
  async renew(
    grants: readonly Grant[],
    call: StoreCall,
    renew = this.#leases.renew,
  ): Promise<readonly (RenewOutcome | Error)[]> {
    await this.#about('renew', grants[0]?.name ?? '', call, () => this.#session.confirm(call))
    const kept = grants.filter(({ grantId }) => this.#session.isHeld(grantId))
    const outcomes = (kept.length === 0 ? [] : await renew(kept, call)).values()
    return await Promise.all(
      grants.map(async (grant) => {
        if (!kept.includes(grant)) return await this.#lost(grant, call)
        const outcome = outcomes.next().value as RenewOutcome | Error
        if (outcome instanceof Error) return outcome
        if (outcome.renewed) this.#session.extend(grant.grantId, grant.ttl)
        else await this.#session.unlock(grant.grantId).catch(() => {})
        return outcome
      }),
    )
  }

  async release(grant: Grant, call: StoreCall, release: () => Promise<ReleaseOutcome>): Promise<ReleaseOutcome> {
    await this.#about('release', grant.name, call, () => this.#session.unlock(grant.grantId))
    return await release()
  }

  /** An old process is shown as the holder. */
  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    const [record, isTaken] = await this.#look(name, this.#keys.argumentsOf(name), call)
    return isTaken && !isLocked(record) ? oldHolder(name, record?.fencingToken) : record
  }

  close(): void {
    this.#session.close()
  }

  /** A process with a lease may have the lock, too: then the lease decides. */
  async #oldHolder(name: string, args: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    const [record, isTaken] = await this.#look(name, args, call)
    return isTaken && !isLocked(record) ? oldHolder(name, record?.fencingToken) : undefined
  }

  #look(name: string, args: string, call: StoreCall): Promise<[LeaseRecord | undefined, boolean]> {
    const looking = this.#about('read', name, call, () => this.#session.isTaken(args, call))
    return Promise.all([this.#leases.read(name, call), looking])
  }

  /** Frees the lease, if nobody else has it. */
  async #lost(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    await this.#session.unlock(grant.grantId).catch(() => {})
    const outcome = await this.#leases.release(grant, call)
    if (outcome.released) return { renewed: false, reason: 'deleted' }
    const { holder } = outcome
    return holder === undefined ? { renewed: false, reason: 'expired' } : { renewed: false, reason: 'taken', holder }
  }

  async #about<T>(operation: string, name: string, call: StoreCall, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw call.aborted ? error : failureOf(`${operation} of the advisory lock of lease '${name}'`, name, error)
    }
  }
}

/** Of an advisory lock nothing is known but that a session has it, for as long as it wants. */
function oldHolder(name: string, fencingToken = 0n): LeaseRecord {
  return {
    name,
    owner: 'pg-advisory-lock',
    grantId: '',
    fencingToken,
    ttl: Number.POSITIVE_INFINITY,
    remaining: Number.POSITIVE_INFINITY,
    state: 'leased',
    metadata: {},
  }
}
