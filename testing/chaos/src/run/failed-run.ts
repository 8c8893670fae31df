import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChaosRun } from './run-chaos.js'

/** Keeps what was recorded in a run that failed, in a folder for its store and seed; returns the folder. */
export function keepFailedRun(system: string, seed: number, run: ChaosRun, report: string): string {
  const folder = join(tmpdir(), `chaos-${system}-${seed}`)
  mkdirSync(folder, { recursive: true })
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? String(field) : field), 2)
  writeFileSync(join(folder, 'history.json'), text(run.history))
  writeFileSync(join(folder, 'faults.json'), text(run.schedule))
  writeFileSync(join(folder, 'report.txt'), `${report}\n`)
  return folder
}
