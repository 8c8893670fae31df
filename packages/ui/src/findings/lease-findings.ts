import {
  isLocked,
  type LeaseRecord,
  type LeaseStore,
  LeaseStoreUnfitError,
  type StoreOperationOptions,
} from '@leasehold/core'
import { shownText, withinTime } from '@leasehold/core/internal'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { RecentMap } from '@leasehold/core/store-kit'
import type { UiFinding } from '../protocol.js'
import { type OwnGrant, OwnGrants } from './own-grants.js'

/** For how many names the last token is kept, also when the name is gone. */
const MOST_NAMES = 100_000

/** How many findings are shown: the last ones. */
const MOST_FINDINGS = 100

/** A finding of a lease ends this long after it was last seen, in milliseconds. */
const LASTS_FOR = 3_600_000

/** How many names are read again in one look, because something must not be. */
const MOST_CONFIRMED = 20

/** The ids of the findings of a probe begin with it. */
const PROBED = 'unfit-store:probe:'

interface SeenGrant {
  readonly token: bigint
  readonly grantId: string
  readonly owner: string
  readonly isHeld: boolean
}

/**
 * Looks for what must not be.
 *
 * Certain is: `token-shrank`, a record that was read later has a smaller token than one that was read before; `two-holders`, two
 * grants of a lease have the same token, or a lease of this process counts as held at an instant at which another grant, with a
 * larger token, stood in the record. The reason is not certain: an operator may have broken the lease with a short period, and
 * the old holder stops at its next heartbeat. Not found is what happens between two looks, and what other processes believe.
 */
export class LeaseFindings {
  readonly own = new OwnGrants()
  readonly #store: LeaseStore
  readonly #read: (name: string) => Promise<LeaseRecord | undefined>
  readonly #seen = new RecentMap<SeenGrant>(MOST_NAMES)
  /** The grants that were seen in this store: other stores of the process may have the same names. */
  readonly #ownSeen = new WeakSet<OwnGrant>()
  #suspects = new Set<string>()
  #isConfirming = false
  #all: readonly UiFinding[] = []

  /** `read`: reads the record of a name now. */
  constructor(store: LeaseStore, read: (name: string) => Promise<LeaseRecord | undefined>) {
    this.#store = store
    this.#read = read
  }

  /** All findings that last: another list whenever they change. */
  get all(): readonly UiFinding[] {
    return this.#all
  }

  /** Takes a record that was read. `now`: milliseconds since 1970. */
  see(record: LeaseRecord, now: number): void {
    const { name, fencingToken, grantId, owner } = record
    const last = this.#seen.get(name)
    const isHeld = isLocked(record)
    if (last !== undefined && isHeld && last.isHeld && isOtherGrant(last, record) && last.token === fencingToken) {
      this.#add({
        id: `two-holders:${name}`,
        kind: 'two-holders',
        leaseName: name,
        at: now,
        message:
          `Two grants of lease '${shownText(name)}' have the fencing token ${fencingToken}: that of '${shownText(last.owner)}', ` +
          `and that of '${shownText(owner)}'. No guard can tell them apart. Run 'leasehold doctor' on the store.`,
      })
    }
    // A listing may have read it before the record that was seen last: only a later read is certain.
    if (last !== undefined && fencingToken < last.token) this.#suspects.add(name)
    else if (last?.token !== fencingToken || last.grantId !== grantId || last.isHeld !== isHeld) {
      this.#seen.set(name, { token: fencingToken, grantId, owner, isHeld })
    }
  }

  /** Compares the grants of this process with the records of a listing. */
  seeOwn(recordOf: (name: string) => LeaseRecord | undefined): void {
    for (const grant of this.own.held()) {
      const record = recordOf(grant.leaseName)
      if (record?.grantId === grant.grantId) this.#ownSeen.add(grant)
      else if (record !== undefined && this.#isOvertaken(grant, record)) this.#suspects.add(grant.leaseName)
    }
  }

  /** Reads the names again in which something seems wrong. Never rejects. Resolves with whether the findings have changed. */
  async confirm(wall: () => number): Promise<boolean> {
    if (this.#isConfirming || this.#suspects.size === 0) return false
    this.#isConfirming = true
    const before = this.#all
    const suspects = [...this.#suspects].slice(0, MOST_CONFIRMED)
    this.#suspects = new Set()
    for (const name of suspects) await this.#confirm(name, wall).catch(() => {})
    this.#isConfirming = false
    return this.#all !== before
  }

  /** Asks the store whether it keeps the conditions of leases. Never rejects. */
  async probe(options: StoreOperationOptions, wall: () => number): Promise<void> {
    try {
      const ask = async (call: StoreCall) => (await this.#store.probe?.(call)) ?? []
      const found = await withinTime(options, this.#store, { operation: 'probing the store' }, ask)
      const others = this.#all.filter(({ id }) => !id.startsWith(PROBED))
      const failed = found.filter(({ result }) => result === 'failed').map((finding) => probed(finding, wall()))
      if (failed.length > 0 || others.length < this.#all.length) this.#all = [...others, ...failed]
    } catch (error) {
      this.onError(error, wall())
    }
  }

  /** An error of the store: it may say that the store is unfit. */
  onError(error: unknown, now: number): void {
    if (!(error instanceof LeaseStoreUnfitError)) return
    const id = `unfit-store:${error.setting ?? ''}`
    this.#add({ id, kind: 'unfit-store', at: now, message: `The store breaks a condition of leases: ${error.message}` })
  }

  /** The store has listed a name that does not begin with the prefix. */
  onForeign(name: string, prefix: string, now: number): void {
    const message =
      `The store lists '${shownText(name)}', which does not begin with '${shownText(prefix)}'. ` +
      `It may answer wrongly to other questions, too: run 'leasehold doctor'.`
    this.#add({ id: 'unfit-store:list', kind: 'unfit-store', at: now, message })
  }

  /** Ends the findings of leases that were not seen for long. Those of the store last. */
  forget(now: number): void {
    const left = this.#all.filter(({ kind, at }) => kind === 'unfit-store' || now - at < LASTS_FOR)
    if (left.length < this.#all.length) this.#all = left
  }

  async #confirm(name: string, wall: () => number): Promise<void> {
    const before = this.#seen.get(name)
    const record = await this.#read(name)
    if (record === undefined) return
    const now = wall()
    if (before !== undefined && record.fencingToken < before.token) {
      this.#add({
        id: `token-shrank:${name}`,
        kind: 'token-shrank',
        leaseName: name,
        at: now,
        message:
          `The fencing token of lease '${shownText(name)}' was ${before.token}, and is ${record.fencingToken} now. Guards that ` +
          'have seen the larger one refuse the new holder. The record may have been deleted, or come back from a backup.',
      })
      const { fencingToken: token, grantId, owner } = record
      this.#seen.set(name, { token, grantId, owner, isHeld: isLocked(record) })
    }
    for (const grant of this.own.held()) {
      if (grant.leaseName === name && this.#isOvertaken(grant, record)) this.#addOvertaken(grant, record, now)
    }
  }

  /** Whether another grant is in force while this process counts on its own. */
  #isOvertaken(grant: OwnGrant, record: LeaseRecord): boolean {
    const isOther = isLocked(record) && record.grantId !== grant.grantId && record.fencingToken > grant.fencingToken
    return isOther && this.#ownSeen.has(grant) && this.own.isHeld(grant)
  }

  #addOvertaken({ leaseName, owner, fencingToken }: OwnGrant, record: LeaseRecord, now: number): void {
    this.#add({
      id: `two-holders:${leaseName}`,
      kind: 'two-holders',
      leaseName,
      at: now,
      message:
        `Lease '${shownText(leaseName)}' is held by '${shownText(owner)}' of this process with the fencing token ${fencingToken}, ` +
        `and by '${shownText(record.owner)}' with ${record.fencingToken}. If nobody has broken it, the store has lost the ` +
        `record: run 'leasehold doctor'.`,
    })
  }

  #add(finding: UiFinding): void {
    const others = this.#all.filter(({ id }) => id !== finding.id)
    this.#all = [...others, finding].slice(-MOST_FINDINGS)
  }
}

function isOtherGrant({ grantId }: SeenGrant, record: LeaseRecord): boolean {
  return grantId !== '' && record.grantId !== '' && grantId !== record.grantId
}

function probed({ check, found = 'it does not keep it', change }: StoreFinding, at: number): UiFinding {
  const advice = change === undefined ? '' : ` Change this: ${shownText(change)}.`
  const message = `The store breaks a condition of leases, ${shownText(check)}: ${shownText(found)}.${advice}`
  return { id: PROBED + check, kind: 'unfit-store', at, message }
}
