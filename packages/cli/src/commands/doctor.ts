import { shownLines } from '@leasehold/core/internal'
import type { StoreFinding } from '@leasehold/core/store'
import type { Action } from '../command-declaration.js'
import type { doctor } from '../declarations.js'
import { diagnose } from '../diagnosis.js'
import { durationText } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { type Colour, writeTable } from '../table.js'
import { type Terminal, writeJSON } from '../terminal.js'
import { UsageError } from '../usage-error.js'

/** The time limit of each call, in milliseconds: a fit store answers at once. */
const TIMEOUT = 2_000

type Result = StoreFinding['result']

const shown: Readonly<Record<Result, readonly [text: string, colour: Colour]>> = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  failed: ['failed', 'red'],
  unknown: ['not known', 'dim'],
}

/** Prints what was checked, and what to change. */
export const examineStore: Action<typeof doctor> = async ({ operands, options }, terminal) => {
  const [url] = operands
  if (url !== undefined && (options.store ?? options.config) !== undefined) {
    throw new UsageError('the store is given twice: remove the URL, or --store and --config')
  }
  const { clock, errors } = terminal
  const { timeout = TIMEOUT, output } = options
  const start = clock.now()
  await using opened = await openStore(url === undefined ? options : { ...options, store: url }, 'doctor', terminal)
  const { store } = opened
  const findings = await diagnose(store, { timeout, clock })
  const duration = clock.now() - start
  const { kind = 'custom' } = store
  const isFit = findings.every(({ result }) => result !== 'failed')
  if (output === 'json') writeJSON(terminal, { store: kind, fit: isFit, duration, checks: findings })
  else writeFindings(terminal, findings)
  errors.write(`leasehold: ${summary(kind, findings)}, in ${durationText(duration)}\n`)
  return isFit ? exitCodes.ok : exitCodes.no
}

/** A row for each check; then what to change. */
function writeFindings(terminal: Terminal, findings: readonly StoreFinding[]): void {
  const rows = findings.map(({ check, result, found = '' }) => [check, shown[result], found] as const)
  writeTable(terminal, ['CHECK', 'RESULT', 'FOUND'], rows)
  for (const { check, setting = check, change } of findings) {
    if (change !== undefined) terminal.output.write(`${shownLines(`${setting}: ${change}`).trimEnd()}\n`)
  }
}

function summary(kind: string, findings: readonly StoreFinding[]): string {
  const count = (wanted: Result): number => findings.filter(({ result }) => result === wanted).length
  const failed = count('failed')
  const verdict = failed === 0 ? 'is fit for leases' : 'is not fit for leases'
  const warnings = count('warning')
  const warned = `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
  return `the ${kind} store ${verdict}: ${count('ok')} ok, ${warned}, ${failed} failed, ${count('unknown')} not known`
}
