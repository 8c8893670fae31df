import { randomUUID } from 'node:crypto'
import {
  type Clock,
  type Grant,
  isLocked,
  LeaseError,
  type LeaseRecord,
  type LeaseStore,
  LeaseStoreUnfitError,
} from '@leasehold/core'
import { looksOf, withinTime } from '@leasehold/core/internal'
import type { AcquireOutcome, StoreCall, StoreFinding, StoreLimits } from '@leasehold/core/store'
import { failureOf } from './failure.js'

/** The name of the lease of the trial, and how many such names are tried while other trials hold them. */
const TRIAL_NAME = 'leasehold-doctor'
const TRIAL_NAMES = 4

const OWNER = 'leasehold-doctor'

/** The ttl of the lease of the trial, in milliseconds, if the store accepts it: it locks the name if the trial is killed. */
const TTL = 10_000

/** How long the clock of the store is watched, in milliseconds: first shortly, then for a store that counts whole seconds. */
const LOOKS = [150, 1_050]

/** Limits of the calls, and the clock for them. */
interface Limits {
  readonly timeout: number
  readonly clock: Clock
}

const severities = ['ok', 'unknown', 'warning', 'failed'] as const

/**
 * Checks whether a store is fit for leases: asks the store itself, where it has `probe`, and then holds a lease for a moment.
 * Rejects with a typed error if the store cannot be reached, or rejects the credentials.
 */
export async function diagnose(store: LeaseStore, limits: Limits): Promise<readonly StoreFinding[]> {
  const { probe } = store
  const details = { operation: 'checking the store', leaseName: TRIAL_NAME }
  const own = probe === undefined ? [] : await withinTime(limits, store, details, (call) => probe.call(store, call))
  const trial = await new LeaseTrial(store, limits).run(own)
  const findings = new Map<string, StoreFinding>()
  for (const finding of [...own, ...trial]) {
    const known = findings.get(finding.check)
    const isWorse = known !== undefined && severities.indexOf(finding.result) <= severities.indexOf(known.result)
    if (!isWorse) findings.set(finding.check, finding)
  }
  return [...findings.values()]
}

/** Holds a lease of its own for a moment, with every operation that a holder needs. */
class LeaseTrial {
  readonly #store: LeaseStore
  readonly #limits: Limits
  readonly #findings: StoreFinding[] = []

  constructor(store: LeaseStore, limits: Limits) {
    this.#store = store
    this.#limits = limits
  }

  /** `own`: what the store says itself. If it says that it is broken, a failure of the trial is no news. */
  async run(own: readonly StoreFinding[]): Promise<readonly StoreFinding[]> {
    try {
      await this.#call('read', TRIAL_NAME, (call) => this.#store.read(TRIAL_NAME, call))
      await this.#hold()
      this.#add('permissions', 'ok')
    } catch (error) {
      // The store answers its own check, so it is there, and knows the user.
      const isKnown = this.#store.probe !== undefined && own.length > 0
      if (!isKnown && this.#findings.length === 0 && !(error instanceof LeaseStoreUnfitError)) throw error
      this.#onFailure(error, own)
    }
    return this.#findings
  }

  async #hold(): Promise<void> {
    const grant = await this.#acquired()
    if (grant === undefined) return
    const { name } = grant
    try {
      await this.#challenge(grant)
      const record = await this.#read(name)
      const isFresh = record !== undefined && record.fencingToken === grant.fencingToken && isLocked(record)
      this.#add('fresh reads', isFresh ? 'ok' : 'failed', isFresh ? {} : staleAfter('a grant'))
      await this.#renew(grant)
      await this.#watchTime(name)
    } finally {
      await this.#release(grant)
    }
    await this.#acquireAgain(grant)
  }

  /** The lease under a free name: other trials may be at work, or were killed. */
  async #acquired(): Promise<Grant | undefined> {
    for (let place = 1; place <= TRIAL_NAMES; place += 1) {
      const name = place === 1 ? TRIAL_NAME : `${TRIAL_NAME}-${place}`
      const outcome = await this.#acquire(name)
      if (outcome.granted) return outcome.grant
    }
    const found = `the names ${TRIAL_NAME} to ${TRIAL_NAME}-${TRIAL_NAMES} are held, perhaps by other checks`
    this.#add('exclusive grants', 'unknown', { found, change: 'try again later' })
    return undefined
  }

  async #challenge({ name }: Grant): Promise<void> {
    const outcome = await this.#acquire(name)
    if (!outcome.granted) return this.#add('exclusive grants', 'ok')
    await this.#release(outcome.grant)
    this.#add('exclusive grants', 'failed', {
      found: 'a lease that was held was granted to a second owner',
      change: 'do not use this store: see leasehold verify for the rules that it breaks',
    })
  }

  async #renew(grant: Grant): Promise<void> {
    const outcome = await this.#call('renew', grant.name, (call) => this.#store.renew(grant, call))
    if (outcome.renewed) return this.#add('heartbeats', 'ok')
    const found = `a heartbeat right after the grant was refused (${outcome.reason})`
    this.#add('heartbeats', 'failed', { found, change: 'look for a program that deletes or changes the records' })
  }

  /** Whether the rest of the ttl gets less. A store that is observed has no clock for it. */
  async #watchTime(name: string): Promise<void> {
    const { clock } = this.#limits
    const check = 'expiry'
    if (this.#store.limits.observed === true)
      return this.#add(check, 'ok', { found: looksText(looksOf(this.#store.limits)) })
    const before = (await this.#read(name))?.remaining
    if (before === undefined) return this.#add(check, 'unknown', { found: 'the store does not show the time left' })
    let elapsed = 0
    for (const look of LOOKS) {
      await new Promise<void>((resolve) => clock.schedule(look, resolve))
      elapsed += look
      const left = (await this.#read(name))?.remaining
      if (left !== undefined && left < before) return this.#add(check, 'ok')
    }
    const found = `the time left of a lease did not get less in ${elapsed} ms`
    this.#add(check, 'failed', { found, change: 'correct the clock of the server: it stands still, or was set back' })
  }

  async #release(grant: Grant): Promise<void> {
    const { name, fencingToken } = grant
    await this.#call('release', name, (call) => this.#store.release(grant, call))
    const record = await this.#read(name)
    const isOld = record !== undefined && record.fencingToken === fencingToken && isLocked(record)
    if (isOld) this.#add('fresh reads', 'failed', staleAfter('a release'))
  }

  async #acquireAgain({ name, fencingToken }: Grant): Promise<void> {
    const check = 'fencing tokens'
    const outcome = await this.#acquire(name)
    if (!outcome.granted) return this.#add(check, 'unknown', { found: 'the name was not free again at once' })
    const { grant } = outcome
    await this.#release(grant)
    if (grant.fencingToken > fencingToken) return this.#add(check, 'ok')
    const found = `the token of the second grant, ${grant.fencingToken}, is not larger than that of the first, ${fencingToken}`
    this.#add(check, 'failed', { found, change: 'do not use this store: see leasehold verify --family fencing' })
  }

  #acquire(name: string): Promise<AcquireOutcome> {
    const { minTtl, maxTtl } = this.#store.limits
    const ttl = Math.min(Math.max(TTL, minTtl), maxTtl)
    const request = { name, owner: OWNER, grantId: randomUUID(), ttl }
    return this.#call('acquire', name, (call) => this.#store.acquire(request, call))
  }

  #read(name: string): Promise<LeaseRecord | undefined> {
    return this.#call('read', name, (call) => this.#store.read(name, call))
  }

  #call<T>(operation: string, leaseName: string, ask: (call: StoreCall) => Promise<T>): Promise<T> {
    return withinTime(this.#limits, this.#store, { operation: `${operation} of the check`, leaseName }, ask)
  }

  #onFailure(error: unknown, own: readonly StoreFinding[]): void {
    const isExplained = own.some(({ result }) => result === 'failed')
    if (error instanceof LeaseStoreUnfitError) {
      if (!isExplained) this.#add(error.setting ?? 'first use', 'failed', { found: error.message })
      return
    }
    const isDenied = error instanceof LeaseError && error.code === 'unauthorised'
    if (isDenied) this.#add('permissions', 'failed', { found: failureOf(error).message })
    else this.#add('operations', 'failed', { found: failureOf(error).message })
  }

  #add(check: string, result: StoreFinding['result'], more: Omit<StoreFinding, 'check' | 'result'> = {}): void {
    this.#findings.push({ check, result, ...more })
  }
}

function staleAfter(change: string): Pick<StoreFinding, 'found' | 'change'> {
  return {
    found: `a read after ${change} returned the record before it`,
    change: 'read from the server that takes the writes, not from a replica or a cache',
  }
}

/** How challengers of an observed store find out that a holder is dead. */
function looksText(looks: StoreLimits['looks']): string {
  if (looks === undefined) return 'challengers observe the record for a ttl: no clock of the store is needed'
  const extra = `${looks.extra} ms`
  return looks.needed === 1
    ? `by times of the store, one look finds a dead holder, from ${extra} after the ttl on`
    : `by times of the store, two looks that are a ttl and ${extra} apart find a dead holder`
}
