import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseNameError } from '../errors/lease-name-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { checkOptionNames } from '../errors/option-names.js'
import { shownValue } from '../errors/shown-value.js'
import { anotherGrant, nothingToBreak } from '../store/break-conflict.js'
import { largerOf } from '../store/fencing-token.js'
import { type Grant, isLocked, type LeaseRecord, type Metadata } from '../store/lease-record.js'
import type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  LeaseStore,
  ReleaseOutcome,
  RenewOutcome,
  StoreLimits,
} from '../store/lease-store.js'
import type { StoreCall } from '../store/store-call.js'
import type { StoreFinding } from '../store/store-finding.js'
import { FirstUseProbe } from '../store-kit/first-use-probe.js'
import { inRounds } from '../store-kit/rounds.js'
import { StoreChecks } from '../store-kit/store-checks.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/system-clock.js'
import { VALIDITY_MARGIN } from '../time/validity.js'
import { decideClaim, decideRelease, decideRenewal } from './cas-decisions.js'
import { PROBE_NAME, type ProbedRegister, probeRegister } from './cas-probe.js'
import {
  type CasStanding,
  checkRecord,
  invalidTtl,
  type RecordChanges,
  rewrite,
  standingOf,
  toGrant,
  toLeaseRecord,
  unowned,
  withoutFaults,
} from './cas-records.js'
import type { CasEntry, CasRecord, CasRegister, CasVersion, CasWritten } from './cas-register.js'
import { DoubtMarks } from './doubt-marks.js'
import { nextToken } from './next-token.js'
import { ProbedTimes } from './probed-times.js'
import { Standings } from './standings.js'

const HOUR = 3_600_000

export interface CasStoreOptions {
  /** The clock on which records are observed; the machine's unless given. */
  readonly clock?: Clock
  /** The smallest ttl, in milliseconds; 1 s unless given: each challenger has to see a record twice within it. */
  readonly minTtl?: number
  /**
   * The largest ttl, in milliseconds; 1 h unless given. Use the same for every client of the register: it also caps the ttl
   * of records written by others, so that one absurd write cannot lock a name for ever.
   */
  readonly maxTtl?: number
  /** The cap on the ttl of records written by others, in milliseconds; `maxTtl` unless given. */
  readonly longest?: number
  /** The room for metadata in a record, see `StoreLimits.metadata`. */
  readonly metadata?: number
  /**
   * Whether the register is checked before the first grant: by a record with the reserved name `leasehold-probe`, in five or
   * six requests. On unless given. Turn it off for a backend that is known to keep its conditions.
   */
  readonly probe?: boolean
}

/** A store that can hand leases over and break them. */
export type CasStore = LeaseStore & Required<Pick<LeaseStore, 'change' | 'break' | 'closed' | 'update' | 'probe'>>

/**
 * A `LeaseStore` over a compare-and-set register. No timestamp is compared with the clock of another machine: a challenger
 * takes over only after it has itself seen the record unchanged for the recorded ttl, on its own monotonic clock
 * (the rule of client-go's leader election), or after two readings of the store's own clock prove it (see {@link
 * CasRegister.clockError}). Throws a `LeaseConfigurationError` where the limits make no sense.
 */
export function casStore<V extends CasVersion>(register: CasRegister<V>, options: CasStoreOptions = {}): CasStore {
  return new CasLeaseStore(register, options)
}

/** An entry, and its standing. */
interface Seen<V extends CasVersion> extends CasEntry<V> {
  readonly standing: CasStanding
}

/** The store behind `casStore`, for providers that extend it. */
export class CasLeaseStore<V extends CasVersion> implements CasStore {
  readonly kind: string
  readonly limits: StoreLimits
  readonly watch?: NonNullable<LeaseStore['watch']>
  readonly list?: NonNullable<LeaseStore['list']>
  readonly raiseToken?: NonNullable<LeaseStore['raiseToken']>
  readonly #checks: StoreChecks
  readonly #register: CasRegister<V>
  readonly #clock: Clock
  readonly #standings: Standings<V>
  readonly #doubts: DoubtMarks<V>
  readonly #longest: number
  readonly #probe: FirstUseProbe
  /** The entries of the grants made here, as last written. */
  readonly #written = new Map<string, CasEntry<V>>()

  constructor(register: CasRegister<V>, options: CasStoreOptions = {}) {
    const names = { clock: true, minTtl: true, maxTtl: true, longest: true, metadata: true, probe: true } as const
    checkOptionNames<CasStoreOptions>('casStore', options, names)
    const { clock = systemClock, minTtl = 1_000, maxTtl = HOUR, longest = maxTtl, metadata, probe = true } = options
    if (!(minTtl > 0 && maxTtl >= minTtl && maxTtl < Number.POSITIVE_INFINITY)) {
      throw new LeaseConfigurationError(
        `minTtl (${minTtl}) and maxTtl (${maxTtl}) must be finite, 0 < minTtl <= maxTtl`,
      )
    }
    this.kind = register.kind ?? 'cas'
    const room = metadata === undefined ? {} : { metadata }
    this.limits = { minTtl, maxTtl, infinite: false, ordered: false, observed: true, ...looksAt(register), ...room }
    this.#checks = new StoreChecks(this.kind, this.limits)
    this.#register = register
    this.#clock = clock
    this.#standings = new Standings(longest, register.clockError)
    this.#doubts = new DoubtMarks(register, clock)
    this.#longest = longest
    this.#probe = new FirstUseProbe(this.kind, probe, (_, call) => this.probe(call))
    if (register.watch !== undefined) this.watch = (name, call) => this.#watch(name, call)
    if (register.list !== undefined) this.list = (prefix, call) => this.#list(prefix, call)
    if (register.losesTokens !== true) this.raiseToken = (grant, token, call) => this.#raiseToken(grant, token, call)
  }

  get closed(): AbortSignal {
    return this.#checks.closed
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl } = request
    this.#checks.acquire(request, call)
    if (name === PROBE_NAME) {
      const message = `'${PROBE_NAME}' is reserved for the check of the register: choose another lease name`
      throw new LeaseNameError(message, this.#detailsOf(name))
    }
    const end = this.#clock.now() + call.timeout
    if (this.#probe.isDue) await this.#probe.require(name, call)
    return await this.#inRounds(name, call, async () => {
      const seen = await this.#seeOrCreate(name, { owner, grantId, ttl, metadata: request.metadata ?? {} }, call)
      if (seen === undefined) return undefined
      if ('granted' in seen) return seen
      const claim = decideClaim(request, seen.record, seen.standing)
      if ('granted' in claim) {
        await this.#doubts.leave(name, seen, end, call)
        return claim
      }
      const { fencingToken = await nextToken(this.#register, name, seen, call) } = claim.changes
      return await this.#grant(name, seen, { ...claim.changes, fencingToken }, call)
    })
  }

  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    return await this.#renew(grant, {}, call)
  }

  /** Rejects with a `LeaseConfigurationError` if the records have no room for metadata. */
  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    if (this.limits.metadata === 0) {
      const message = `the ${this.kind} store cannot update metadata: its records have no room for it`
      throw new LeaseConfigurationError(message, this.#detailsOf(grant.name))
    }
    return await this.#renew(grant, { metadata }, call)
  }

  async #raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call)
    return await this.#renew(grant, { fencingToken: token }, call)
  }

  async #renew(grant: Grant, changes: RecordChanges, call: StoreCall): Promise<RenewOutcome> {
    const { name } = grant
    return await this.#inRounds(name, call, async (isFirst) => {
      const entry = await this.#entryOf(grant, isFirst, call)
      const decision = decideRenewal(grant, entry?.record, changes)
      if (entry === undefined || 'refusal' in decision) {
        this.#written.delete(name)
        return 'refusal' in decision ? decision.refusal : undefined
      }
      return (await this.#write(name, entry, decision.write, call)) === undefined ? undefined : { renewed: true }
    })
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    const { name } = grant
    this.#checks.release(grant, call, metadata)
    return await this.#inRounds(name, call, async (isFirst) => {
      const entry = await this.#entryOf(grant, isFirst, call)
      if (entry === undefined) return { released: false }
      const freed = decideRelease(grant, entry.record, metadata)
      if (freed === undefined) return { released: false, ...this.#holderOf(name, entry) }
      if ((await this.#write(name, entry, freed, call)) === undefined) return undefined
      this.#written.delete(name)
      return { released: true }
    })
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    const seen = await this.#see(name, call)
    return seen === undefined ? undefined : toLeaseRecord(name, seen.record, seen.standing)
  }

  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.change(grant, to, call)
    const { name, grantId } = grant
    return await this.#inRounds(name, call, async () => {
      const seen = await this.#see(name, call)
      if (seen === undefined) return { granted: false }
      const { record, standing } = seen
      const isRepeated = record.grantId === to.grantId
      if (standing.state !== 'leased' || (record.grantId !== grantId && !isRepeated)) {
        return { granted: false, ...this.#holderOf(name, seen) }
      }
      const fencingToken = isRepeated ? record.fencingToken : await nextToken(this.#register, name, seen, call)
      const previous = isRepeated ? record.previous : record.metadata
      const renewals = isRepeated ? undefined : 0
      // The holder may have set a ttl of its own since.
      if (isRepeated) this.#checkTtl(name, record)
      const ttl = isRepeated ? record.ttl : grant.ttl
      return await this.#grant(name, seen, { ...to, ttl, previous, fencingToken, renewals }, call)
    })
  }

  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    const { period = Number.POSITIVE_INFINITY, reason, grantId } = options
    this.#checks.break(name, options, call)
    return await this.#inRounds(name, call, async () => {
      const seen = await this.#see(name, call)
      if (grantId !== undefined && seen?.record.grantId !== grantId) throw anotherGrant(name, this.kind)
      if (seen === undefined || seen.record.owner === '') {
        throw nothingToBreak(name, this.kind)
      }
      // Breaking again can only shorten the period: challengers that saw it pass must not wait again.
      const { standing, record } = seen
      if (record.breakPeriod !== undefined && standing.remaining <= period) return { remaining: standing.remaining }
      if (period === Number.POSITIVE_INFINITY) this.#checkTtl(name, record)
      const metadata = reason === undefined ? record.metadata : { ...record.metadata, breakReason: reason }
      // `remaining` includes the margin, which is added to the recorded period again. A free name stays free.
      const left = standing.remaining === 0 ? 0 : Math.max(standing.remaining - VALIDITY_MARGIN, 1)
      const broken = rewrite(record, { breakPeriod: Math.min(left, period), metadata })
      if (!(await this.#write(name, seen, broken, call))) return undefined
      // Each challenger has to see it unchanged for its whole period.
      return { remaining: standingOf(broken, { unchanged: 0, displaced: 0 }, this.#longest).remaining }
    })
  }

  /** Whether the register keeps its conditions. Writes the record with the reserved name `leasehold-probe`. */
  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    const register = this.#register
    const probed: ProbedRegister<V> = {
      read: (name) => register.read(name, call),
      create: async (name, record) => this.#checkWritten(await register.create(name, record, call)),
      replace: async (name, record, version) => this.#checkWritten(await register.replace(name, record, version, call)),
    }
    return await probeRegister(probed, new ProbedTimes(this.#clock, register.clockError), call)
  }

  async close(): Promise<void> {
    if (!this.#checks.close()) return
    this.#written.clear()
    await this.#register.close?.()
  }

  /** An invalid ttl counts as the longest. It may come from a wrong answer: written back, it would lock the name for so long. */
  #checkTtl(name: string, record: CasRecord): void {
    const ttl = invalidTtl(record, this.#longest)
    if (ttl === undefined) return
    const message = `the record of '${name}' has a ttl that no holder can have (${ttl} ms): try again, or break the lease with a period`
    throw new LeaseUnavailableError(message, this.#detailsOf(name))
  }

  async *#list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    this.#checks.usable(call)
    for await (const { name, ...entry } of this.#register.list?.(prefix, call) ?? []) {
      if (name === PROBE_NAME) continue
      const { record, standing } = this.#seen(name, entry)
      yield toLeaseRecord(name, record, standing)
    }
  }

  async *#watch(name: string, call: StoreCall): AsyncIterable<LeaseRecord | undefined> {
    for await (const entry of this.#register.watch?.(name, call) ?? []) {
      const seen = entry === undefined ? undefined : this.#seen(name, entry)
      yield seen === undefined || !isLocked(seen.standing) ? undefined : toLeaseRecord(name, seen.record, seen.standing)
    }
  }

  /** Repeats an operation when another writer came in between; rejects when that happens again and again. */
  async #inRounds<T>(name: string, call: StoreCall, round: (isFirst: boolean) => Promise<T | undefined>): Promise<T> {
    return await inRounds(name, this.#detailsOf(name), async (isFirst) => {
      this.#checks.usable(call)
      return await round(isFirst)
    })
  }

  /** Reads the entry, and notes for how long it has been seen unchanged: from when the answer arrived. */
  async #see(name: string, call: StoreCall): Promise<Seen<V> | undefined> {
    const entry = await this.#register.read(name, call)
    if (entry !== undefined) return this.#seen(name, entry)
    this.#standings.forget(name)
    return undefined
  }

  #seen(name: string, entry: CasEntry<V>): Seen<V> {
    checkRecord(name, this.kind, entry.record)
    this.#checkCreated(entry)
    const record = withoutFaults(this.#withToken(name, entry))
    return { ...entry, record, standing: this.#standingOf(name, entry) }
  }

  /**
   * The record with its token. If tokens are those of versions, a record does not bear its own until it is written again.
   */
  #withToken(name: string, { record, version }: CasEntry<V>): CasRecord {
    const token = this.#register.tokenOf
    if (token === undefined || record.owner === '') return record
    // The token of a grant made here is known, also after later writes by others.
    const known = this.#written.get(name)?.record
    if (known?.grantId === record.grantId) {
      return { ...record, fencingToken: largerOf(known.fencingToken, record.fencingToken) }
    }
    return record.fencingToken === 0n ? { ...record, fencingToken: token.call(this.#register, version) } : record
  }

  #standingOf(name: string, entry: CasEntry<V>): CasStanding {
    return this.#standings.see(name, entry, this.#clock.now())
  }

  /**
   * The entry of the name. If there is none, it is created: as the grant where the token is that of the version, else
   * without an owner, because the first token of a register that forgets is the time of this creation.
   */
  async #seeOrCreate(
    name: string,
    claim: Pick<CasRecord, 'owner' | 'grantId' | 'ttl' | 'metadata'>,
    call: StoreCall,
  ): Promise<Seen<V> | Extract<AcquireOutcome, { granted: true }> | undefined> {
    const seen = await this.#see(name, call)
    if (seen !== undefined) return seen
    const isGrant = this.#register.tokenOf !== undefined
    const record = isGrant ? { ...unowned, ...claim, renewals: { count: 0, revision: unowned.revision } } : unowned
    const written = this.#checkWritten(await this.#register.create(name, record, call))
    if (written === undefined) return undefined
    if (isGrant) return { granted: true, grant: toGrant(name, this.#keep(name, written, record)) }
    this.#checkCreated(written)
    return { ...written, record, standing: { state: 'available', remaining: 0 } }
  }

  async #grant(
    name: string,
    seen: CasEntry<V>,
    changes: RecordChanges,
    call: StoreCall,
  ): Promise<AcquireOutcome | undefined> {
    const written = await this.#write(name, seen, rewrite(seen.record, changes), call)
    if (written === undefined) return undefined
    const { previous } = written
    return { granted: true, grant: toGrant(name, written), ...(previous === undefined ? {} : { previous }) }
  }

  /** Conditional on the version that was seen. `undefined`: another writer was faster. */
  async #write(
    name: string,
    { version }: CasEntry<V>,
    record: CasRecord,
    call: StoreCall,
  ): Promise<CasRecord | undefined> {
    const written = this.#checkWritten(await this.#register.replace(name, record, version, call))
    return written === undefined ? undefined : this.#keep(name, written, record)
  }

  /** Returns the answer of a write. Throws if it has no version, for the register has then not said whether it wrote. */
  #checkWritten(written: CasWritten<V> | undefined): CasWritten<V> | undefined {
    if (written === undefined) return undefined
    const { version } = Object(written) as Partial<CasWritten<V>>
    if (version !== undefined && version !== null) return written
    throw new LeaseUnavailableError(
      `the ${this.kind} register answered ${shownValue(written)} to a write: it must resolve with { version }, or with ` +
        'undefined if it did not write',
      { store: this.kind },
    )
  }

  /** Keeps the written record, with its token. */
  #keep(name: string, written: CasWritten<V>, record: CasRecord): CasRecord {
    const { tokenOf } = this.#register
    const isNew = tokenOf !== undefined && record.fencingToken === 0n
    const kept = isNew ? { ...record, fencingToken: tokenOf.call(this.#register, written.version) } : record
    const entry = { ...written, record: kept }
    this.#written.set(name, entry)
    this.#standingOf(name, entry)
    return kept
  }

  /** In the first round, the entry as this store wrote it: a heartbeat then needs no read. */
  async #entryOf({ name, grantId }: Grant, isFirst: boolean, call: StoreCall): Promise<CasEntry<V> | undefined> {
    const written = this.#written.get(name)
    return isFirst && written?.record.grantId === grantId ? written : await this.#see(name, call)
  }

  #holderOf(name: string, entry: CasEntry<V>): { holder?: LeaseRecord } {
    const standing = this.#standingOf(name, entry)
    return isLocked(standing) ? { holder: toLeaseRecord(name, entry.record, standing) } : {}
  }

  /** Throws if a needed `createdAt` is missing: a forgotten name would begin again with tokens that it had before. */
  #checkCreated({ createdAt }: CasWritten<V>): void {
    const { forgets, timeAfter } = this.#register
    // A value of another type, such as null, can compare like a number, and the token would begin again with it.
    const isTime = typeof createdAt === 'number' && createdAt >= 0
    if (createdAt === undefined ? forgets !== true || timeAfter !== undefined : isTime) return
    throw new LeaseConfigurationError(
      `the ${this.kind} register forgets entries, but gives no createdAt in milliseconds`,
    )
  }

  #detailsOf(name: string): { leaseName: string; store: string } {
    return { leaseName: name, store: this.kind }
  }
}

/** Throws where the times of the register make no sense. */
function looksAt<V extends CasVersion>({
  kind = 'cas',
  clockError,
  doubt,
}: CasRegister<V>): Pick<StoreLimits, 'looks'> {
  if (clockError === undefined && doubt === undefined) return {}
  if (typeof clockError === 'number' && clockError >= 0 && clockError < Number.POSITIVE_INFINITY) {
    return { looks: { needed: doubt === undefined ? 1 : 2, extra: clockError + VALIDITY_MARGIN } }
  }
  throw new LeaseConfigurationError(
    `clockError of the ${kind} register is ${shownValue(clockError)}: it must be the milliseconds by which two readings of ` +
      "the store's clock can be wrong, 0 or more",
    { store: kind },
  )
}
