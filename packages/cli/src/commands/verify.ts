import { randomUUID } from 'node:crypto'
import { type LeaseStore, readLease } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import { type StoreLaw, storeLaws } from '@leasehold/testkit'
import type { Action } from '../command-declaration.js'
import type { verify } from '../declarations.js'
import { durationText } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { writeTable } from '../table.js'
import { type Terminal, writeJSON } from '../terminal.js'
import { didYouMean, UsageError } from '../usage-error.js'
import { checkLaws, releaseAll, subjectOf, type Verdict } from '../verification.js'

const DEFAULT_PARALLEL = 12

/** Checks the laws of stores against the store, and prints a summary. */
export const verifyStore: Action<typeof verify> = async ({ options }, terminal) => {
  const { family, parallel = DEFAULT_PARALLEL, ttl, timeout, output } = options
  const { clock, errors } = terminal
  const laws = lawsOf(family)
  const prefix = `leasehold-verify-${randomUUID().slice(0, 8)}-`
  await using opened = await openStore(options, prefix, terminal)
  const { store } = opened
  // The store has to answer before anything is written.
  await readLease(store, prefix, { timeout, clock })
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  process.once('SIGINT', interrupt)
  const verdicts: Verdict[] = []
  const start = clock.now()
  errors.write(`leasehold: ${laws.length} laws on names that begin with ${prefix}\n`)
  // A client closes its provider, and so its connections, when a law has ended.
  const open = async (): Promise<LeaseStore> => (await openStore(options, prefix, terminal)).store
  await checkLaws(laws, subjectOf(store, ttl, open, prefix), parallel, {
    clock,
    signal: interrupted.signal,
    onVerdict: (verdict) => {
      verdicts.push(verdict)
      if (errors.isTTY === true)
        errors.write(`\r${verdicts.length} of ${laws.length}${verdicts.length === laws.length ? '\n' : ''}`)
    },
  })
  process.off('SIGINT', interrupt)
  const used = await releaseAll(store, prefix, { timeout, clock })
  const count = countOf(verdicts)
  const duration = clock.now() - start
  if (output === 'json')
    writeJSON(terminal, { store: store.kind, prefix, names: used, ...count, duration, laws: verdicts })
  else writeSummary(verdicts, terminal)
  errors.write(`leasehold: ${summary(store.kind ?? 'custom', count, duration)}; ${remains(used)}\n`)
  if (interrupted.signal.aborted) return 130
  return count.broken === 0 ? exitCodes.ok : exitCodes.no
}

function lawsOf(family: string | undefined): readonly StoreLaw[] {
  if (family === undefined) return storeLaws
  const laws = storeLaws.filter((law) => law.family === family)
  if (laws.length > 0) return laws
  const families = [...new Set(storeLaws.map((law) => law.family))]
  const help = didYouMean(family, families, `the families are ${families.join(', ')}`, (meant) => `'${meant}'`)
  throw new UsageError(`there are no laws of '${family}': ${help}`)
}

type Count = Readonly<Record<Verdict['outcome'], number>>

function countOf(verdicts: readonly Verdict[]): Count {
  const of = (outcome: Verdict['outcome']): number => verdicts.filter((verdict) => verdict.outcome === outcome).length
  return { kept: of('kept'), broken: of('broken'), skipped: of('skipped') }
}

/** A row for each family; then the laws that the store breaks, and how. */
function writeSummary(verdicts: readonly Verdict[], terminal: Terminal): void {
  const families = [...new Set(verdicts.map(({ family }) => family))]
  const rows = families.map((family) => {
    const { kept, broken, skipped } = countOf(verdicts.filter((verdict) => verdict.family === family))
    const faults = broken > 0 ? ([String(broken), 'red'] as const) : '0'
    return [family, String(kept), faults, String(skipped)]
  })
  writeTable(terminal, ['FAMILY', 'KEPT', 'BROKEN', 'SKIPPED'], rows)
  for (const { family, law, outcome, reason = '' } of verdicts) {
    if (outcome !== 'broken') continue
    const lines = reason.split('\n').map((line) => `  ${shownText(line)}\n`)
    terminal.output.write(`broken: ${family}: ${law}\n${lines.join('')}`)
  }
}

function summary(store: string, { kept, broken, skipped }: Count, duration: number): string {
  return `the ${store} store keeps ${kept} laws, breaks ${broken}, and cannot run ${skipped}, in ${durationText(duration)}`
}

function remains(used: number | undefined): string {
  return used === undefined
    ? 'it cannot list names: leases that a law left behind end with their ttl'
    : `the leases on ${used} names are released; their records stay as long as the store keeps fencing tokens`
}
