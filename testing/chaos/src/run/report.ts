import type { Figures } from '../checks/report.js'
import type { AppliedFault } from '../history/history.js'
import type { Verdict } from './check-run.js'
import type { ChaosRun } from './run-chaos.js'

/** What happened in a run, a few lines. */
export function reportOf({ history, leftOut }: ChaosRun, { figures, faults }: Verdict): string {
  const seconds = (history.to - history.from) / 1_000
  const perSecond = Math.round(history.operations.length / seconds)
  return [
    history.title,
    `  operations  ${history.operations.length} (${perSecond} a second): ${shown(figures.operations)}`,
    `  grants      ${figures.grants}, ${figures.handOvers} handed over, losses: ${shown(figures.losses)}`,
    `  faults      ${shown(countsOf(history.faults))}`,
    ...leftOut.map((line) => `  left out    ${line}`),
    `  ${timesOf(figures)}`,
    `  ${faults.length} violations`,
    ...faults.map((fault) => `    ${fault.replaceAll('\n', '\n    ')}`),
  ].join('\n')
}

function timesOf({ longestGap, longestOverlap, overwrittenUnseen }: Figures): string {
  const gap = longestGap === undefined ? 'none' : `${Math.round(longestGap.to - longestGap.from)} ms`
  return (
    `longest time without a known holder: ${gap}, with two of them: ${Math.round(longestOverlap)} ms; ` +
    `${overwrittenUnseen} writes replaced unseen`
  )
}

function countsOf(faults: readonly AppliedFault[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of faults) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

function shown(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return words.map(([word, count]) => `${count} ${word}`).join(', ') || 'none'
}
