import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import { isDefinitive } from '../errors/lease-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  LeaseStore,
  ReleaseOutcome,
  RenewOutcome,
  StoreLimits,
} from '../store/lease-store.js'
import { withoutBreakReason } from '../store/metadata.js'
import type { StoreCall } from '../store/store-call.js'
import type { StoreFinding } from '../store/store-finding.js'
import { StoreChecks } from '../store-kit/store-checks.js'
import { limitsOfBoth } from './both-limits.js'
import { areEqual, isCopy, marked, metadataOfBoth, unmarked } from './copied-metadata.js'
import { type MergedWatch, mergedWatches } from './merged-watches.js'
import { plainRecord, recordOfBoth } from './record-of-both.js'
import { type RaisingStore, Side } from './side.js'
import { Turns } from './turns.js'

export const KIND = 'migrate'

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })

type Granted = Extract<AcquireOutcome, { readonly granted: true }>
type Refused = Extract<AcquireOutcome, { readonly granted: false }>
type NotRenewed = Extract<RenewOutcome, { readonly renewed: false }>

/**
 * Leases that are held in two stores, under one grant id and one fencing token. It keeps nothing between two calls that a
 * lease depends on: all that counts is in the two records.
 */
export class MigratingStore implements LeaseStore {
  readonly kind = KIND
  readonly limits: StoreLimits
  readonly list?: NonNullable<LeaseStore['list']>
  readonly change?: NonNullable<LeaseStore['change']>
  readonly break?: NonNullable<LeaseStore['break']>
  readonly update?: NonNullable<LeaseStore['update']>
  readonly withdraw?: NonNullable<LeaseStore['withdraw']>
  readonly watch?: NonNullable<LeaseStore['watch']>
  readonly watchGrant?: NonNullable<LeaseStore['watchGrant']>
  readonly renewMany?: NonNullable<LeaseStore['renewMany']>
  readonly probe?: NonNullable<LeaseStore['probe']>
  readonly #from: Side
  readonly #to: Side
  readonly #sides: readonly [Side, Side]
  readonly #checks: StoreChecks
  readonly #turns: Turns
  /** Whether the records of both stores have room for metadata. */
  readonly #hasMetadata: boolean

  constructor(from: RaisingStore, to: RaisingStore) {
    this.limits = limitsOfBoth(from.limits, to.limits)
    this.#checks = new StoreChecks(KIND, this.limits)
    this.#from = new Side('from', from)
    this.#to = new Side('to', to)
    this.#sides = [this.#from, this.#to]
    this.#turns = new Turns(this.#checks.closed)
    this.#hasMetadata = this.limits.metadata !== 0 && from.update !== undefined && to.update !== undefined
    for (const { closed } of [from, to]) {
      if (closed?.aborted === true) this.#checks.close()
      closed?.addEventListener('abort', () => this.#checks.close(), { once: true })
    }
    // The optional methods that both stores have; of the others, one is enough. Without signals of `from`, waiters must poll.
    if (this.#hasMetadata) this.update = (...asked) => this.#update(...asked)
    if (from.list !== undefined && to.list !== undefined) this.list = (...asked) => this.#list(...asked)
    if (from.change !== undefined && to.change !== undefined) this.change = (...asked) => this.#change(...asked)
    if (from.break !== undefined && to.break !== undefined) this.break = (...asked) => this.#break(...asked)
    if (from.withdraw ?? to.withdraw) this.withdraw = (...asked) => this.#withdraw(...asked)
    if (from.watch !== undefined) this.watch = (...asked) => this.#watch(...asked)
    if (from.watchGrant ?? to.watchGrant) this.watchGrant = (...asked) => this.#watchGrant(...asked)
    if (from.renewMany ?? to.renewMany) this.renewMany = (...asked) => this.#renewMany(...asked)
    if (from.probe ?? to.probe) this.probe = (call) => this.#probe(call)
  }

  /** Aborted by `close`, and when one of the two stores is closed. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  /**
   * Asks `from` first. Refused by `to`, it keeps the name in `from` for the next request with the same grant id: a release
   * might arrive after that request was granted, and free the name in `from` under its holder.
   */
  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    const { name, grantId } = request
    const end = this.#turns.asks(name, grantId)
    try {
      if (this.#to.store.limits.observed === true) this.#observe(name, call)
      const first = await this.#from.ask(call, (store) => store.acquire(request, call))
      if (!first.granted) {
        this.#turns.refused(name, grantId, 'from')
        return plainRefusal(first)
      }
      return await this.#givingBack(first.grant, call, () => this.#acquireInTo(request, first, call))
    } finally {
      end()
    }
  }

  /**
   * Has `to` see its record, side by side with the request to `from`: where a challenger has to see a record unchanged for a
   * ttl, the time would otherwise only begin when the name is free in `from`.
   */
  #observe(name: string, call: StoreCall): void {
    this.#to.store.read(name, call).catch(() => {})
  }

  async #acquireInTo(request: AcquireRequest, first: Granted, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId, metadata } = request
    const copied = metadata === undefined || !this.#hasMetadata ? request : { ...request, metadata: marked(metadata) }
    const second = await this.#to.ask(call, (store) => store.acquire(copied, call))
    if (second.granted) return await this.#join(first, second, metadata, call)
    this.#turns.refused(name, grantId, 'to')
    return leftBehind(second)
  }

  /** Makes one grant of those in both stores: with the larger token, and the metadata that the last holder left. */
  async #join(first: Granted, second: Granted, given: Metadata | undefined, call: StoreCall): Promise<AcquireOutcome> {
    const ahead = first.grant.fencingToken - second.grant.fencingToken
    const { fencingToken } = ahead > 0n ? first.grant : second.grant
    const grant = { ...first.grant, fencingToken, ttl: Math.min(first.grant.ttl, second.grant.ttl) }
    const behind = ahead === 0n ? undefined : ahead > 0n ? this.#to : this.#from
    const raised = await behind?.ask(call, (store) => store.raiseToken(grant, fencingToken, call))
    const outcome = raised?.renewed === false ? raised : await this.#copyMetadata(grant, first, second, given, call)
    // The grant has ended in one of the stores meanwhile: it was broken, or has expired.
    if (!outcome.renewed) return leftBehind({ granted: false, ...(outcome.holder && { holder: outcome.holder }) })
    const isKnown = first.previous !== undefined || second.previous !== undefined
    return isKnown
      ? { granted: true, grant, previous: metadataOfBoth(first.previous, second.previous) }
      : { granted: true, grant }
  }

  /** `from` is written first: if the second write is lost, the next grant finds the same difference, and decides as this one. */
  async #copyMetadata(
    grant: Grant,
    first: Granted,
    second: Granted,
    given: Metadata | undefined,
    call: StoreCall,
  ): Promise<RenewOutcome> {
    if (!this.#hasMetadata || given !== undefined) return RENEWED
    const [inFrom, inTo] = [first.previous ?? {}, second.previous ?? {}]
    const metadata = withoutBreakReason(metadataOfBoth(inFrom, inTo))
    if (!areEqual(metadata, inFrom)) {
      const outcome = await this.#from.ask(call, (store) => updateIn(store, grant, metadata, call))
      if (!outcome.renewed) return outcome
    }
    const isThere = isCopy(inTo) && areEqual(metadata, unmarked(inTo))
    return isThere ? RENEWED : await this.#to.ask(call, (store) => updateIn(store, grant, marked(metadata), call))
  }

  /** Restarts the ttl in both stores, side by side. A refusal of one ends the grant. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    return await this.#inBoth(call, (store) => store.renew(grant, call))
  }

  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call)
    return await this.#inBoth(call, (store) => store.raiseToken(grant, token, call))
  }

  /** In `from` first, see `#copyMetadata`. */
  async #update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    const first = await this.#from.ask(call, (store) => updateIn(store, grant, metadata, call))
    if (!first.renewed) return leftBehind(first)
    const second = await this.#to.ask(call, (store) => updateIn(store, grant, marked(metadata), call))
    return second.renewed ? second : leftBehind(second)
  }

  /**
   * Frees the name in `to`, then in `from`: a migrating process that is waiting finds both free. Metadata is written to `from`
   * before: if the process ends in the middle, it is not older there than in `to`.
   */
  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checks.release(grant, call, metadata)
    const left = metadata === undefined || !this.#hasMetadata ? undefined : metadata
    if (left !== undefined) await this.#from.ask(call, (store) => updateIn(store, grant, left, call))
    const inTo = this.#to.ask(call, (store) => store.release(grant, call, left && marked(left)))
    // Also if `to` has failed: processes with `from` alone need not wait for the expiry.
    await inTo.catch(() => {})
    const first = await this.#from.ask(call, (store) => store.release(grant, call, left))
    const second = await inTo
    const holders = [first, second].flatMap((outcome) => (outcome.released ? [] : (outcome.holder ?? [])))
    const other = holders.find(({ grantId }) => grantId !== grant.grantId)
    if (other !== undefined) return { released: false, holder: plainRecord(other) }
    return first.released || second.released ? { released: true } : { released: false }
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    const [from, to] = await this.#both(call, (store) => store.read(name, call))
    return recordOfBoth(from, to)
  }

  /** `to` first: the watch of a waiter in `from` notifies it of its grant, and both stores have to have it by then. */
  async #change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.change(grant, to, call)
    const inTo = await this.#to.ask(call, (store) => changeIn(store, grant, to, call))
    const first = await this.#from.ask(call, (store) => changeIn(store, grant, to, call))
    // One store may have the new grant by now. It is not released: the waiter may be asking for it at this moment.
    if (!first.granted) return inTo.granted ? leftBehind(first) : plainRefusal(first)
    // A process that uses `from` alone hands over what it has there: the waiter still has to get it in `to`.
    const { name, ttl } = grant
    const second = inTo.granted ? inTo : await this.#to.ask(call, (store) => store.acquire({ name, ttl, ...to }, call))
    return second.granted ? await this.#join(first, second, undefined, call) : leftBehind(second)
  }

  /** Resolves with the longer time. Nothing to break in one of them is no failure. */
  async #break(name: string, options: BreakOptions, call: StoreCall): Promise<{ readonly remaining: number }> {
    this.#checks.break(name, options, call)
    const broken = await this.#both(call, async (store) => {
      try {
        return await store.break?.(name, options, call)
      } catch (error) {
        if (error instanceof LeaseConflictError) return error
        throw error
      }
    })
    const times = broken.flatMap((each) => (each instanceof LeaseConflictError ? [] : [each?.remaining ?? 0]))
    const [conflict] = broken
    if (times.length === 0 && conflict instanceof LeaseConflictError) throw conflict
    return { remaining: Math.max(...times) }
  }

  async #withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    this.#checks.name(name, call)
    await this.#both(call, async (store) => store.withdraw?.(name, grantId, call))
  }

  async *#list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    this.#checks.usable(call)
    const inTo = new Map<string, LeaseRecord>()
    for await (const record of this.#listed(this.#to, prefix, call)) inTo.set(record.name, record)
    for await (const record of this.#listed(this.#from, prefix, call)) {
      const both = recordOfBoth(record, inTo.get(record.name))
      inTo.delete(record.name)
      if (both !== undefined) yield both
    }
    for (const record of inTo.values()) {
      this.#checks.usable(call)
      const own = recordOfBoth(undefined, record)
      if (own !== undefined) yield own
    }
  }

  async *#listed(side: Side, prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    try {
      yield* side.store.list?.(prefix, call) ?? []
    } catch (error) {
      throw call.aborted ? error : side.named(error)
    }
  }

  #watch(name: string, call: StoreCall, grantId?: string): AsyncIterable<LeaseRecord | undefined> {
    this.#checks.name(name)
    return this.#turns.watch(this.#sides, name, call, grantId)
  }

  async *#watchGrant(grant: Grant, call: StoreCall): AsyncGenerator<unknown, void, undefined> {
    const watches = this.#sides.flatMap(({ role, store }): MergedWatch<Side['role'], unknown>[] => {
      const open = store.watchGrant?.bind(store, grant)
      return open === undefined ? [] : [{ of: role, open }]
    })
    for await (const { value } of mergedWatches(watches, call, this.#checks.closed)) yield value
  }

  /** One round trip to each store. An error stands for each unknown outcome. */
  async #renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    this.#checks.usable(call)
    const [first, second] = await Promise.all(this.#sides.map((side) => this.#renewedIn(side, grants, call)))
    return grants.map((_, index) => outcomeOfBoth(first?.[index], second?.[index]))
  }

  async #renewedIn(side: Side, grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    const { store } = side
    try {
      const outcomes =
        (await store.renewMany?.(grants, call)) ??
        (await Promise.all(grants.map((grant) => store.renew(grant, call).catch((error: Error) => error))))
      return outcomes.map((outcome) => (outcome instanceof Error ? side.named(outcome) : outcome))
    } catch (error) {
      return grants.map(() => side.named(error))
    }
  }

  /** The findings of both stores; each says of which. */
  async #probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    const findings = await Promise.all(
      this.#sides.map((side) =>
        side.ask(call, async (store) => {
          const found = (await store.probe?.(call)) ?? []
          return found.map((finding) => ({ ...finding, check: `${side.title}: ${finding.check}` }))
        }),
      ),
    )
    return findings.flat()
  }

  /** Closes both stores. */
  async close(): Promise<void> {
    this.#checks.close()
    const ends = await Promise.allSettled(this.#sides.map(async ({ store }) => await store.close()))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #both<T>(call: StoreCall, operation: (store: RaisingStore) => Promise<T>): Promise<[T, T]> {
    return await Promise.all([this.#from.ask(call, operation), this.#to.ask(call, operation)])
  }

  /** A refusal counts at once: the other store may hang. */
  async #inBoth(call: StoreCall, operation: (store: RaisingStore) => Promise<RenewOutcome>): Promise<RenewOutcome> {
    const answers = this.#sides.map((side) => side.ask(call, operation))
    return await new Promise((resolve, reject) => {
      for (const answer of answers) {
        answer.then(
          (outcome) => {
            if (!outcome.renewed) resolve(leftBehind(outcome))
          },
          () => {},
        )
      }
      void Promise.allSettled(answers).then(() => Promise.all(answers).then(() => resolve(RENEWED), reject))
    })
  }

  /**
   * A final error ends the claim, so its grant can be released without a wait: no later request has its id. After any other
   * error, and after the time limit, the claim goes on, and the engine releases what there is when it gives up.
   */
  async #givingBack(grant: Grant, call: StoreCall, work: () => Promise<AcquireOutcome>): Promise<AcquireOutcome> {
    try {
      return await work()
    } catch (error) {
      if (isDefinitive(error) && !call.aborted) this.release(grant, call).catch(() => {})
      throw error
    }
  }
}

async function changeIn(
  store: LeaseStore,
  grant: Grant,
  to: Pick<Grant, 'grantId' | 'owner'>,
  call: StoreCall,
): Promise<AcquireOutcome> {
  return (await store.change?.(grant, to, call)) ?? { granted: false }
}

async function updateIn(store: LeaseStore, grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
  return (await store.update?.(grant, metadata, call)) ?? RENEWED
}

/** The refusal, with the metadata of the holder as its user knows it. */
function plainRefusal({ holder }: Refused): Refused {
  return holder === undefined ? { granted: false } : { granted: false, holder: plainRecord(holder) }
}

/** The other store may still have the grant: the engine frees it when nobody asks for it or works under it any more. */
function leftBehind<R extends Refused | NotRenewed>({ holder, ...refusal }: R) {
  return { ...refusal, left: true, ...(holder === undefined ? {} : { holder: plainRecord(holder) }) }
}

/** An error stands for an unknown outcome. One refusal is enough. */
function outcomeOfBoth(
  from: RenewOutcome | Error | undefined,
  to: RenewOutcome | Error | undefined,
): RenewOutcome | Error {
  for (const outcome of [from, to]) if (isRefusal(outcome)) return leftBehind(outcome)
  for (const outcome of [from, to]) {
    if (outcome === undefined)
      return new LeaseUnavailableError('a store gave no outcome for a heartbeat', { store: KIND })
    if (outcome instanceof Error) return outcome
  }
  return RENEWED
}

function isRefusal(outcome: RenewOutcome | Error | undefined): outcome is NotRenewed {
  return outcome !== undefined && !(outcome instanceof Error) && !outcome.renewed
}
