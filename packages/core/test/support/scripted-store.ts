import type { Grant, LeaseRecord, LeaseStore, Metadata } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, ReleaseOutcome, RenewOutcome, StoreCall } from '@leasehold/core/store'

type Method = 'acquire' | 'renew' | 'release' | 'read' | 'change' | 'update' | 'withdraw'

/** One call of the engine, which the test answers. */
export interface ScriptedCall {
  readonly method: Method
  readonly grantId: string | undefined
  readonly queue: boolean | undefined
  readonly call: StoreCall
  readonly answer: (outcome: unknown) => void
  readonly fail: (error: unknown) => void
}

/**
 * A store with answers from the test. It ignores aborted calls, as a faulty store might.
 */
export class ScriptedStore implements LeaseStore {
  readonly kind = 'scripted'
  readonly limits
  readonly calls: ScriptedCall[] = []
  #token = 0n

  constructor(limits: Partial<LeaseStore['limits']> = {}) {
    this.limits = { minTtl: 1, maxTtl: 1e9, infinite: true, ordered: false, ...limits }
  }

  /** The last call of this method; fails the test if there is none. */
  last(method: Method): ScriptedCall {
    const call = this.calls.at(-1)
    if (call?.method !== method) throw new Error(`the last call is ${call?.method ?? 'none'}, not ${method}`)
    return call
  }

  count(method: Method): number {
    return this.calls.filter((call) => call.method === method).length
  }

  /** The outcome of a granted claim, with the next fencing token. */
  granting({ name, owner, grantId, ttl }: Pick<AcquireRequest, 'name' | 'owner' | 'grantId' | 'ttl'>): AcquireOutcome {
    this.#token += 1n
    return { granted: true, grant: { name, owner, grantId, ttl, fencingToken: this.#token } }
  }

  acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    return this.#call<AcquireOutcome>('acquire', call, request.grantId, request.queue, () => this.granting(request))
  }

  renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    return this.#call<RenewOutcome>('renew', call, grant.grantId, undefined, () => ({ renewed: true }))
  }

  release(grant: Grant, call: StoreCall): Promise<ReleaseOutcome> {
    return this.#call<ReleaseOutcome>('release', call, grant.grantId, undefined, () => ({ released: true }))
  }

  update(grant: Grant, _metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    return this.#call<RenewOutcome>('update', call, grant.grantId, undefined, () => ({ renewed: true }))
  }

  read(_name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    return this.#call<LeaseRecord | undefined>('read', call, undefined, undefined, () => undefined)
  }

  change(grant: Grant, to: { grantId: string; owner: string }, call: StoreCall): Promise<AcquireOutcome> {
    return this.#call<AcquireOutcome>('change', call, to.grantId, undefined, () => this.granting({ ...grant, ...to }))
  }

  withdraw(_name: string, grantId: string, call: StoreCall): Promise<void> {
    return this.#call<void>('withdraw', call, grantId, undefined, () => undefined)
  }

  async close(): Promise<void> {}

  /** `answer('yes')` reports that the operation took effect. */
  #call<T>(
    method: Method,
    call: StoreCall,
    grantId: string | undefined,
    queue: boolean | undefined,
    yes: () => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (outcome: unknown): void => resolve(outcome === 'yes' ? yes() : (outcome as T))
      this.calls.push({ method, grantId, queue, call, answer, fail: reject })
    })
  }
}

/** The record of a holder, as returned by a store. */
export function recordOf(record: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    name: 'job',
    owner: 'other',
    grantId: 'other-grant',
    fencingToken: 7n,
    ttl: 10_000,
    state: 'leased',
    metadata: {},
    ...record,
  }
}
