import { type AcquireOptions, type HandOff, type Lease, LeaseError, type LeaseLost, StoreLease } from '@leasehold/core'
import type { HandOver, Release } from '../history/operation.js'
import type { Recorder } from '../record/recorder.js'
import type { DriftingClock } from './drifting-clock.js'

/** A grant of a recorded lease. */
export interface RecordedGrant {
  readonly token: bigint
  isLost: boolean
}

/** A lease whose calls, renewals and losses are recorded. */
export class RecordedLease {
  readonly #lease: Lease
  readonly #recorder: Recorder
  readonly #clock: DriftingClock
  readonly #name: string
  /** Of the last grant: a grant may end before its acquire has resolved. */
  #granted: { readonly token: bigint; readonly validUntil: number } | undefined

  constructor(lease: Lease, recorder: Recorder, clock: DriftingClock) {
    this.#lease = lease
    this.#recorder = recorder
    this.#clock = clock
    this.#name = lease.settings.name
    if (lease instanceof StoreLease) {
      lease.on('acquired', ({ fencingToken }) => {
        this.#granted = { token: fencingToken, validUntil: this.#validUntil }
      })
      lease.on('renewed', ({ fencingToken }) =>
        recorder.notice({ notice: 'renewed', name: this.#name, token: fencingToken, validUntil: this.#validUntil }),
      )
      // Reported by the outcome of the calls.
      lease.on('error', () => {})
    }
  }

  async acquire(options: AcquireOptions): Promise<RecordedGrant | undefined> {
    return await this.#claim((onLost) => this.#lease.acquire({ ...options, onLost }))
  }

  async adopt(handOff: HandOff): Promise<RecordedGrant | undefined> {
    const lease = this.#lease
    if (!(lease instanceof StoreLease)) return undefined
    return await this.#claim((onLost) => lease.adopt(handOff, { onLost }))
  }

  /** Waits until nothing is under way, so that a grant can be adopted. */
  async settle(): Promise<void> {
    await this.#lease.release().catch(() => {})
  }

  check(): boolean {
    const { outcome } = this.#recorder.check(() => {
      const isHeld = this.#lease.checkLease()
      const token = this.#lease.fencingToken
      if (!isHeld || token === undefined) return { name: this.#name, outcome: 'not-held' }
      return { name: this.#name, outcome: 'held', token, validUntil: this.#validUntil }
    })
    return outcome === 'held'
  }

  /** Whether it is held, without a record. */
  get isHeld(): boolean {
    return this.#lease.checkLease()
  }

  get canHandOver(): boolean {
    return this.#lease instanceof StoreLease
  }

  async release({ token }: RecordedGrant): Promise<void> {
    await this.#recorder.call(
      { call: 'release', name: this.#name, token },
      async (): Promise<{
        outcome: Release['outcome']
      }> => {
        try {
          return { outcome: (await this.#lease.release()) ? 'gone' : 'foreign' }
        } catch {
          return { outcome: 'unknown' }
        }
      },
    )
  }

  async handOver({ token }: RecordedGrant, owner: string): Promise<HandOff | undefined> {
    const lease = this.#lease
    if (!(lease instanceof StoreLease)) return undefined
    let handOff: HandOff | undefined
    await this.#recorder.call(
      { call: 'hand-over', name: this.#name, token },
      async (): Promise<{
        outcome: HandOver['outcome']
      }> => {
        try {
          handOff = await lease.handOff({ owner })
          return { outcome: 'handed-over' }
        } catch (error) {
          return { outcome: isRefusal(error) ? 'refused' : 'unknown' }
        }
      },
    )
    return handOff
  }

  get #validUntil(): number {
    return this.#clock.toMachineTime(this.#lease.validUntil ?? 0)
  }

  async #claim(claim: (onLost: (lost: LeaseLost) => void) => Promise<boolean>): Promise<RecordedGrant | undefined> {
    let grant: RecordedGrant | undefined
    let isLost = false
    this.#granted = undefined
    const onLost = ({ reason }: LeaseLost): void => {
      const token = grant?.token ?? this.#granted?.token
      isLost = true
      if (grant !== undefined) grant.isLost = true
      if (token !== undefined) this.#recorder.notice({ notice: 'lost', name: this.#name, token, reason })
    }
    await this.#recorder.call({ call: 'acquire', name: this.#name }, async () => {
      try {
        if (!(await claim(onLost))) return { outcome: 'refused' }
      } catch {
        return { outcome: 'unknown' }
      }
      const granted = this.#seenGrant()
      if (granted === undefined) return { outcome: 'unknown' }
      grant = { token: granted.token, isLost }
      return { outcome: 'granted', ...granted }
    })
    return grant
  }

  #seenGrant(): { readonly token: bigint; readonly validUntil: number } | undefined {
    if (this.#granted !== undefined) return this.#granted
    const { fencingToken } = this.#lease
    return fencingToken === undefined ? undefined : { token: fencingToken, validUntil: this.#validUntil }
  }
}

/** Whether nothing was handed over, because the grant was lost before, or is not there. */
function isRefusal(error: unknown): boolean {
  return error instanceof LeaseError && (error.code === 'lost' || error.code === 'conflict')
}
