import { LeaseConflictError } from '@leasehold/core'
import type { BreakOptions, StoreCall } from '@leasehold/core/store'
import { anotherGrant, nothingToBreak } from '@leasehold/core/store-kit'
import { type LeaseNote, lockIn, type NameState, toLeaseRecord } from './name-state.js'
import type { Changes, NameTable, Plan } from './name-table.js'
import type { ServerLeases } from './server-leases.js'

/** A lock whose grant is broken, and the server lease that it was attached to before. */
interface Broken {
  readonly grantId: string
  readonly before: string
}

/** Ends leases without their holders. */
export class Breaking {
  readonly #names: NameTable
  readonly #leases: ServerLeases

  constructor(names: NameTable, leases: ServerLeases) {
    this.#names = names
    this.#leases = leases
  }

  /**
   * Moves the key of the lock to a server lease of its own, which nothing extends. The time that the holder had left is
   * measured after that: it then includes each heartbeat that was confirmed before, and none is confirmed later.
   */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ readonly remaining: number }> {
    const { period = Number.POSITIVE_INFINITY } = options
    const state = await this.#names.read(name, undefined, call)
    const note = breakable(name, state, options)
    const lock = lockIn(state)
    const isBroken = note.state === 'breaking'
    const left = isBroken && lock !== undefined ? await this.#leases.leftOf(lock.lease, call) : note.ttl
    const lockedFor = Math.min(period, left)
    if (isBroken && lock !== undefined && lockedFor > 0 && period >= left) return { remaining: left }
    if (lockedFor === 0 || lockedFor === Number.POSITIVE_INFINITY) {
      await this.#mark(name, options, undefined, call)
      return { remaining: 0 }
    }
    const lease = await this.#leases.single(lockedFor, call)
    const broken = await this.#mark(name, options, lease, call)
    if (broken === undefined) return { remaining: 0 }
    return isBroken || broken.before === '0'
      ? { remaining: seconds(lockedFor) }
      : await this.#shorten(name, broken, lockedFor, call)
  }

  /** Marks the grant as broken. Without a server lease, the name is free from now on. */
  #mark(name: string, options: BreakOptions, lease: string | undefined, call: StoreCall): Promise<Broken | undefined> {
    const { reason } = options
    return this.#names.carryOut(name, undefined, call, (state): Plan<Broken | undefined> => {
      const note = breakable(name, state, options)
      const breakReason = reason ?? note.breakReason
      const marked = { ...note, state: 'breaking', ...(breakReason === undefined ? {} : { breakReason }) } as const
      const lock = lockIn(state)
      if (lock === undefined) return { changes: { note: marked }, done: () => undefined }
      const broken = { grantId: note.grantId, before: lock.lease }
      const claim = { key: lock.key, note: { broken: note.grantId } }
      const changes: Changes =
        lease === undefined ? { note: marked, freed: lock.key } : { note: marked, claim: { ...claim, lease } }
      return { changes, done: () => (lease === undefined ? undefined : broken) }
    })
  }

  /** Limits the lock of the name to the time that the holder had left. Resolves with what remains of it. */
  async #shorten(
    name: string,
    { grantId, before }: Broken,
    lockedFor: number,
    call: StoreCall,
  ): Promise<{ readonly remaining: number }> {
    const left = await this.#leases.leftOf(before, call)
    if (left >= lockedFor) return { remaining: seconds(lockedFor) }
    const lease = left === 0 ? undefined : await this.#leases.single(left, call)
    await this.#names.carryOut(name, undefined, call, (state): Plan<void> => {
      const { first } = state
      if (first?.note?.broken !== grantId) return { outcome: undefined }
      const { key, note } = first
      const changes = lease === undefined ? { freed: key } : { claim: { key, note, lease } }
      return { changes, done: () => undefined }
    })
    return { remaining: seconds(left) }
  }
}

function seconds(duration: number): number {
  return Math.ceil(duration / 1_000) * 1_000
}

/** The record of the grant that can be broken. Throws a `LeaseConflictError` if there is none. */
function breakable(name: string, state: NameState, { grantId }: BreakOptions): LeaseNote {
  const { note } = state
  const isOther = lockIn(state) !== undefined && toLeaseRecord(name, state)?.grantId !== note?.grantId
  if (isOther) {
    const message = `'${name}' is locked by another program: release the lock there`
    throw new LeaseConflictError(message, { leaseName: name, store: 'etcd' })
  }
  if (note !== undefined && grantId !== undefined && note.grantId !== grantId) throw anotherGrant(name, 'etcd')
  if (note !== undefined && note.state !== 'available') return note
  throw nothingToBreak(name, 'etcd')
}
