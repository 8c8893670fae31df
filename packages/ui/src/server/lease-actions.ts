import { breakLease, isLocked, type LeaseRecord, type LeaseStore } from '@leasehold/core'
import { checkLeaseName } from '@leasehold/core/store'
import { Refusal } from '../access/refusal.js'
import type { CheckedUiOptions } from '../checked-options.js'
import type { UiUser } from '../lease-ui-options.js'
import type { StoreObserver } from '../observer/store-observer.js'
import type { LeaseDetail, ScheduleRequest } from '../protocol.js'
import { controlSchedule } from '../recipes/control-schedule.js'
import { type BodyFields, numberIn, textIn } from './request-body.js'

/** How many reads and changes of single leases the store gets from all pages at a time. */
const MOST_AT_A_TIME = 8

const LONGEST_NAME = 1_024
const LONGEST_REASON = 500

/** A token is a bigint, and a store may count from its clock. */
const LONGEST_TOKEN = 100

type ActionOptions = Pick<CheckedUiOptions, 'prefix' | 'timeout' | 'clock'>

/** Reads and changes single leases and schedules for readers. Each method rejects with a `Refusal`, or with a typed error of the store. */
export class LeaseActions {
  readonly #store: LeaseStore
  readonly #options: ActionOptions
  readonly #observer: StoreObserver
  #busy = 0

  constructor(store: LeaseStore, options: ActionOptions, observer: StoreObserver) {
    this.#store = store
    this.#options = options
    this.#observer = observer
  }

  /** Checks that a name is one, and that the page shows it. */
  checkName(name: unknown): asserts name is string {
    checkLeaseName(name)
    if (!name.startsWith(this.#options.prefix)) throw noSuchLease()
  }

  /** Reads one lease now. */
  async detail(name: unknown): Promise<LeaseDetail> {
    this.checkName(name)
    const record = await this.#inTurn(() => this.#observer.read(name))
    if (record === undefined) throw noSuchLease()
    return {
      row: this.#observer.rowOf(record),
      ...detailsOf(record),
      related: this.#observer.relatedTo(name),
    }
  }

  /**
   * Breaks the grant that the reader saw, and no other one: it has the token that the reader saw when it is read, and the store
   * breaks it by its grant id. Rejects with a `Refusal` with the status 409 if there is another grant, or none.
   */
  async break(fields: BodyFields, user: UiUser): Promise<void> {
    const name = textIn(fields, 'name', LONGEST_NAME)
    this.checkName(name)
    const token = textIn(fields, 'token', LONGEST_TOKEN)
    const period = numberIn(fields, 'period', 0)
    const reason = textIn(fields, 'reason', LONGEST_REASON)
    await this.#inTurn(async () => {
      const record = await this.#observer.read(name)
      if (record === undefined || !isLocked(record) || String(record.fencingToken) !== token) throw changed()
      const { grantId } = record
      if (grantId === '') throw unknownGrant()
      const { timeout, clock } = this.#options
      const told = user.name === undefined ? reason : `${reason} (by ${user.name})`
      await breakLease(this.#store, name, { period, reason: told, grantId, timeout, clock })
    })
    this.#observer.refresh()
  }

  /** Pauses or resumes a schedule, asks for a run, or has a tick skipped. */
  async schedule(fields: BodyFields, user: UiUser): Promise<void> {
    const name = textIn(fields, 'name', LONGEST_NAME)
    this.checkName(name)
    if (fields.action === 'pause') textIn(fields, 'reason', LONGEST_REASON)
    const { timeout, clock } = this.#options
    // The recipe checks the other fields.
    const request = fields as unknown as ScheduleRequest
    await this.#inTurn(() => controlSchedule(this.#store, request, user.name ?? 'the page', { timeout, clock }))
    this.#observer.refresh()
  }

  /** Asks the store, unless it has enough to do for others. */
  async #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#busy >= MOST_AT_A_TIME) {
      throw new Refusal(503, 'busy', 'the store is being asked for others: try again in a second', {
        'retry-after': '1',
      })
    }
    this.#busy += 1
    try {
      return await ask()
    } finally {
      this.#busy -= 1
    }
  }
}

function detailsOf(record: LeaseRecord): Pick<LeaseDetail, 'metadata' | 'previous' | 'duration' | 'breakReason'> {
  const { metadata, previous, duration, state } = record
  const { breakReason } = metadata
  const isBroken = state === 'breaking' || state === 'broken'
  return {
    metadata,
    ...(previous !== undefined && { previous }),
    ...(duration !== undefined && { duration }),
    ...(isBroken && breakReason !== undefined && { breakReason }),
  }
}

function noSuchLease(): Refusal {
  return new Refusal(404, 'not-found', 'there is no such lease here: it may be gone')
}

function changed(): Refusal {
  return new Refusal(409, 'changed', 'the lease has changed since you looked: nothing was broken; look again')
}

function unknownGrant(): Refusal {
  return new Refusal(
    409,
    'conflict',
    'the store does not know who holds the lease, so that another one could be broken: nothing was',
  )
}
