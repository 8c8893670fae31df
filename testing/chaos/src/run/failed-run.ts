import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawSvg } from '../timeline/draw-svg.js'
import { drawTable } from '../timeline/draw-table.js'
import type { Verdict } from './check-run.js'
import type { ChaosRun } from './run-chaos.js'

/** How many violations are drawn: the first ones, which the others may follow from. */
const DRAWN = 5

/** Keeps what was recorded in a run that failed, in this folder. */
export function keepFailedRun(
  folder: string,
  { history, schedule }: ChaosRun,
  { violations }: Verdict,
  report: string,
): void {
  mkdirSync(folder, { recursive: true })
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? String(field) : field), 2)
  writeFileSync(join(folder, 'history.json'), text(history))
  writeFileSync(join(folder, 'faults.json'), text(schedule))
  writeFileSync(join(folder, 'report.txt'), `${report}\n`)
  for (const [place, violation] of violations.slice(0, DRAWN).entries()) {
    const file = join(folder, `${place + 1}-${violation.check}`)
    writeFileSync(`${file}.txt`, `${drawTable(history, violation)}\n`)
    writeFileSync(`${file}.svg`, drawSvg(history, violation))
  }
}
