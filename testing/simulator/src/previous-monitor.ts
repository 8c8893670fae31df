import type { Grant, Metadata } from '@leasehold/core'
import type { ObservedLease } from './observed-lease.js'
import type { PlannedFault } from './planned-fault.js'
import type { SeenGrant } from './seen-grant.js'

/** Metadata as one text, made once. `undefined`: none. */
type MetadataText = string | undefined

/** The text of a map without entries. */
const EMPTY = '[]'

interface EarlierGrant {
  readonly grantId: string
  readonly fencingToken: bigint
  /** The metadata that it can have found. */
  readonly found: ReadonlySet<MetadataText>
  /** Whether an operator tried to delete the record of this grant. */
  isForgotten: boolean
}

/** Compares the `previous` of each holder with the metadata that the grant before it can have left. */
export class PreviousMonitor {
  /** Whether a later request reaches the store after an earlier one. */
  readonly #isOrdered: boolean
  /**
   * By grant id: the metadata that the record of the grant can have, in the order in which it was sent. `undefined`: the
   * metadata that the grant found, because its request had none.
   */
  readonly #sent = new Map<string, readonly MetadataText[]>()
  /** By name, in the order in which the store made the grants. */
  readonly #grants = new Map<string, EarlierGrant[]>()
  /** The token of each lease for which `previous` was compared. */
  readonly #compared = new WeakMap<ObservedLease, bigint>()

  constructor(faults: readonly PlannedFault[]) {
    this.#isOrdered = !faults.some(({ kind }) => kind === 'delay' || kind === 'fading' || kind === 'duplication')
  }

  onGrant({ name, grantId, fencingToken }: SeenGrant): void {
    const grants = this.#grants.get(name)
    // Of a write that the store has carried out before, the sending is known.
    const grant = { grantId, fencingToken, found: this.#leftBy(grants?.at(-1)), isForgotten: false }
    if (grants === undefined) this.#grants.set(name, [grant])
    else grants.push(grant)
  }

  onForget(name: string): void {
    const last = this.#grants.get(name)?.at(-1)
    if (last !== undefined) last.isForgotten = true
  }

  /**
   * A process sends a write of metadata under a grant id, or a request without metadata. It counts as possible until a later
   * write is confirmed.
   */
  onSent(grantId: string, metadata: Metadata | undefined): void {
    this.#sent.set(grantId, [...(this.#sent.get(grantId) ?? []), textOf(metadata)])
  }

  /** The metadata stays when a holder hands its grant off. */
  onHandOff({ grantId }: Grant, to: string): void {
    this.#sent.set(to, [...(this.#sent.get(to) ?? []), ...(this.#sent.get(grantId) ?? [])])
  }

  onConfirmed(name: string, fencingToken: bigint, metadata: Metadata): void {
    const grantId = this.#grants.get(name)?.find((grant) => grant.fencingToken === fencingToken)?.grantId
    const sent = this.#sent.get(grantId ?? '')
    if (!this.#isOrdered || grantId === undefined || sent === undefined) return
    const place = sent.lastIndexOf(textOf(metadata))
    if (place > 0) this.#sent.set(grantId, sent.slice(place))
  }

  /** Returns a description of a wrong `previous`. Compares once per grant. */
  faultOf(lease: ObservedLease): string | undefined {
    const { fencingToken } = lease
    if (fencingToken === undefined || this.#compared.get(lease) === fencingToken) return undefined
    this.#compared.set(lease, fencingToken)
    const previous = textOf(lease.previous)
    const possible = this.#possible(lease.settings.name, fencingToken)
    if (possible === undefined || possible.has(previous)) return undefined
    return `${shown(previous)}, and the last holder can have left ${Array.from(possible, shown).join(' or ')}`
  }

  /** `undefined` where the store made no such grant: other checks find that. */
  #possible(name: string, fencingToken: bigint): ReadonlySet<MetadataText> | undefined {
    const grants = this.#grants.get(name) ?? []
    const place = grants.findIndex((grant) => grant.fencingToken === fencingToken)
    if (place === -1) return undefined
    const possible = new Set<MetadataText>()
    // A request that is repeated after its grant expired gets a second grant under the same id.
    for (let at = place; at === place || grants[at]?.grantId === grants[place]?.grantId; at -= 1) {
      for (const text of this.#leftBy(grants[at - 1])) possible.add(text)
    }
    return possible
  }

  #leftBy(grant: EarlierGrant | undefined): ReadonlySet<MetadataText> {
    const left = new Set<MetadataText>()
    if (grant === undefined || grant.isForgotten) left.add(undefined)
    if (grant === undefined) return left
    for (const text of this.#sent.get(grant.grantId) ?? []) {
      if (text !== undefined) left.add(text)
      // A first holder without metadata leaves an empty map.
      else for (const found of grant.found) left.add(found ?? EMPTY)
    }
    return left
  }
}

function textOf(metadata: Metadata | undefined): MetadataText {
  return metadata === undefined ? undefined : JSON.stringify(Object.entries(metadata).sort())
}

function shown(text: MetadataText): string {
  return text ?? 'nothing'
}
