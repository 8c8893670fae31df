import type { History } from '../history/history.js'
import type { Figures } from './report.js'

type Counted = Pick<Figures, 'operations' | 'grants' | 'handOvers' | 'losses'>

/** How often each call had each outcome, and each loss each reason. */
export function countOutcomes({ operations, notices }: History): Counted {
  const calls: Record<string, number> = {}
  const losses: Record<string, number> = {}
  for (const { call, outcome } of operations) count(calls, `${call} ${outcome}`)
  for (const { notice, reason } of notices) if (notice === 'lost') count(losses, reason ?? 'no reason')
  return {
    operations: calls,
    grants: calls['acquire granted'] ?? 0,
    handOvers: calls['hand-over handed-over'] ?? 0,
    losses,
  }
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}
