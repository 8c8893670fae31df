import type { ScenarioView } from '@leasehold/simulator'

/**
 * Two holders of the lease, or a holder after the store has granted the lease to another owner. Holders show themselves as
 * `holder`, of their fencing token.
 */
export function findOverlap({ active, grants }: ScenarioView, leaseName: string): string | undefined {
  const [one, other] = active.filter(({ kind }) => kind === 'holder')
  if (one === undefined) return undefined
  if (other !== undefined) return `${one.owner} and ${other.owner} hold the lease`
  const newest = grants.findLast(({ name }) => name === leaseName)
  if (newest === undefined || newest.fencingToken <= BigInt(one.of)) return undefined
  return `${one.owner} holds the lease by ${one.of}: ${newest.owner} was granted it by ${newest.fencingToken}`
}
