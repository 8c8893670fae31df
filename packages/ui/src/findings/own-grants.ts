import diagnosticsChannel from 'node:diagnostics_channel'
import type { StoreLease } from '@leasehold/core'
import type { AcquiredMessage, LostMessage, ReleasedMessage } from '@leasehold/core/channels'
import { RecentMap } from '@leasehold/core/store-kit'
import type { SpanEnd } from '../protocol.js'

/** For how many ended grants of this process the kind of their end is kept. */
const MOST_ENDS = 1_000

/** A grant that a lease of this process has now. */
export interface OwnGrant {
  readonly leaseName: string
  readonly owner: string
  readonly grantId: string
  readonly fencingToken: bigint
  readonly lease: Pick<StoreLease, 'checkLease' | 'state'>
}

/**
 * The grants of this process, as the channels of core tell of them: of all its stores, and only those that were made since it
 * listens.
 */
export class OwnGrants {
  readonly #grants = new Map<object, OwnGrant>()
  readonly #ends = new RecentMap<SpanEnd>(MOST_ENDS)
  readonly #removals: (() => void)[] = []

  /** Begins to listen. */
  begin(): void {
    this.#on<AcquiredMessage>('leasehold:acquired', ({ lease, leaseName, owner, grantId, fencingToken }) => {
      this.#grants.set(lease, { leaseName, owner, grantId, fencingToken, lease: lease as StoreLease })
    })
    this.#on<LostMessage>('leasehold:lost', ({ lease, reason }) => {
      this.#end(lease, reason === 'expired' || reason === 'broken' ? reason : undefined)
    })
    this.#on<ReleasedMessage>('leasehold:released', ({ lease, end }) =>
      this.#end(lease, end === 'unknown' ? undefined : end),
    )
  }

  /** Those that are in force on the clock of their lease, and are not being given up. */
  *held(): Generator<OwnGrant, void, undefined> {
    for (const grant of this.#grants.values()) {
      if (isHeld(grant)) yield grant
    }
  }

  /** Whether this grant is still held. */
  isHeld(grant: OwnGrant): boolean {
    return this.#grants.get(grant.lease) === grant && isHeld(grant)
  }

  /** How a grant of this process has ended; `undefined` if it is not known. */
  readonly endOf = (grantId: string): SpanEnd | undefined => this.#ends.get(grantId)

  end(): void {
    for (const remove of this.#removals.splice(0)) remove()
    this.#grants.clear()
  }

  #end(lease: object, end: SpanEnd | undefined): void {
    const grant = this.#grants.get(lease)
    this.#grants.delete(lease)
    if (grant !== undefined && end !== undefined) this.#ends.set(grant.grantId, end)
  }

  #on<M>(channel: string, listener: (message: M) => void): void {
    const onMessage = (message: unknown): void => listener(message as M)
    diagnosticsChannel.subscribe(channel, onMessage)
    this.#removals.push(() => diagnosticsChannel.unsubscribe(channel, onMessage))
  }
}

function isHeld({ lease }: OwnGrant): boolean {
  return lease.state !== 'releasing' && lease.checkLease()
}
