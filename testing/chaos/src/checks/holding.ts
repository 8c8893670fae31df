import type { Operation } from '../history/operation.js'
import type { SeenGrant } from './seen-grant.js'

/** A time in which a grant was certainly valid for its process. */
export interface Holding {
  readonly name: string
  readonly client: number
  readonly life: number
  readonly token: bigint
  readonly from: number
  readonly to: number
  /** The first and the last that show it, and the call that ended it. */
  readonly operations: readonly Operation[]
}

/** An instant at which the grant was valid, and the validity that was known then. */
interface Sign {
  readonly at: number
  readonly validUntil: number | undefined
  readonly operation: Operation | undefined
}

/**
 * When a grant was certainly valid; `undefined` if no time is certain.
 *
 * A check that found it held was true at some instant between its `from` and its `to`, since the process may have been stopped
 * before or after it looked: a grant is valid from the end of its acquire, or of the first check, to the begin of the last check.
 * It is valid further until the last known end of validity, unless the process gave it up, lost it or may have died before.
 */
export function holdingOf(grant: SeenGrant): Holding | undefined {
  const { name, client, life, token } = grant
  const signs = signsOf(grant)
  const [first] = signs
  const last = signs.at(-1)
  if (first === undefined || last === undefined) return undefined
  const [acquire] = grant.acquires
  const [check] = grant.held
  const [renewal] = grant.renewals
  const from = Math.min(acquire?.to ?? Infinity, check?.to ?? Infinity, renewal?.at ?? Infinity)
  const lastValid = signs.findLast(({ validUntil }) => validUntil !== undefined)?.validUntil ?? -Infinity
  const to = Math.max(last.at, Math.min(lastValid, endOf(grant, last.at), grant.lastSign))
  if (!(from < to)) return undefined
  const shown = [first.operation, last.operation, grant.givings[0]]
  const operations = [...new Set(shown.filter((operation) => operation !== undefined))]
  return { name, client, life, token, from, to, operations }
}

function signsOf({ acquires, held, renewals }: SeenGrant): Sign[] {
  const signs: Sign[] = [
    // The call may have settled long after the grant: the process may have been stopped in between.
    ...acquires.map((operation) => ({ at: -Infinity, validUntil: operation.validUntil, operation })),
    ...held.map((operation) => ({ at: operation.from, validUntil: operation.validUntil, operation })),
    ...renewals.map(({ at, validUntil }) => ({ at: Math.min(at, validUntil ?? at), validUntil, operation: undefined })),
  ]
  return signs.sort((left, right) => left.at - right.at || 0)
}

/**
 * Until when the known validity may be counted. A grant that was lost for another reason than its expiry ended at some instant
 * before the notice.
 */
function endOf({ givings, losses }: SeenGrant, lastSeen: number): number {
  const ends = givings.map(({ from }) => from)
  for (const { at, reason } of losses) ends.push(reason === 'expired' ? at : lastSeen)
  return Math.min(Number.POSITIVE_INFINITY, ...ends)
}
