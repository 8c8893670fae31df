import type { History } from '../history/history.js'
import { longestWithoutHolder } from './check-run.js'
import type { ChaosRun } from './run-chaos.js'

/** What happened in a run, a few lines. */
export function reportOf(run: ChaosRun, violations: readonly string[]): string {
  const { history } = run
  const seconds = (history.to - history.from) / 1_000
  const perSecond = Math.round(history.operations.length / seconds)
  const lost = countsOf(history.notices.flatMap(({ notice, reason }) => (notice === 'lost' ? [reason ?? 'lost'] : [])))
  return [
    history.title,
    `  operations  ${history.operations.length} (${perSecond} a second): ${callsOf(history)}`,
    `  grants      ${grantsOf(history)}, losses: ${shown(lost)}`,
    `  faults      ${shown(countsOf(history.faults.map(({ kind }) => kind)))}`,
    `  longest time without a holder: ${Math.round(longestWithoutHolder(run))} ms`,
    `  ${violations.length} violations`,
    ...violations.map((violation) => `    ${violation.replaceAll('\n', '\n    ')}`),
  ].join('\n')
}

function grantsOf({ operations }: History): number {
  return operations.filter(({ call, outcome }) => call === 'acquire' && outcome === 'granted').length
}

function callsOf({ operations }: History): string {
  return shown(countsOf(operations.map(({ call, outcome }) => `${call} ${outcome}`)))
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words.toSorted()) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function shown(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ') || 'none'
}
