import { type Holding, readHoldings } from './holding-record.js'
import type { Entry } from './ledger.js'
import { overlapOf } from './overlap.js'
import { coloured, columnsOf, wrapped } from './terminal-text.js'

/** A change of the holder. */
export interface Takeover {
  readonly cause: 'SIGKILL' | 'SIGSTOP' | 'release'
  readonly from: string
  readonly to: string
  /** The times of the signal to the old holder and of the next grant, on the machine's clock. */
  readonly endedAt: number
  readonly grantedAt: number
}

/** The observations of the script. The processes keep their own records. */
export interface Observations {
  readonly takeovers: readonly Takeover[]
  readonly lateWritesRefused: number
  readonly lateWritesAccepted: number
  /** Whether the stopped process found its lease lost before it did anything else. */
  readonly foundItselfLost: boolean
}

/** A figure of the summary, and whether it passes its check. */
export interface Figure {
  readonly label: string
  readonly value: string
  readonly holds: boolean
}

/** The maximum delays until the next grant on a busy machine, in milliseconds. */
export interface Bounds {
  readonly handOver: number
  readonly takeover: number
}

/** Computes all figures from the records of the processes and from the ledger. */
export function summarise(
  folder: string,
  names: readonly string[],
  entries: readonly Entry[],
  observations: Observations,
  bounds: Bounds,
): readonly Figure[] {
  const holdings = names.flatMap((name) => readHoldings(folder, name))
  const looks = holdings.reduce((sum, holding) => sum + holding.looks, 0)
  const overlap = overlapOf(holdings)
  const { takeovers, lateWritesRefused, lateWritesAccepted, foundItselfLost } = observations
  return [
    ...takeovers.map((takeover) => figureOf(takeover, holdings, bounds)),
    { label: 'takeovers', value: String(takeovers.length), holds: takeovers.length === 3 },
    {
      label: 'the stopped holder found its lease lost before it wrote',
      value: foundItselfLost ? 'yes' : 'no',
      holds: foundItselfLost,
    },
    { label: 'writes accepted', value: String(entries.length), holds: entries.length > 0 && isInOrder(entries) },
    {
      label: 'late writes refused by the fencing token',
      value: `${lateWritesRefused} of ${lateWritesRefused + lateWritesAccepted}`,
      holds: lateWritesRefused > 0 && lateWritesAccepted === 0,
    },
    {
      label: `overlap, over ${holdings.length} holdings and ${looks.toLocaleString('en')} looks at checkLease()`,
      value: `${overlap.toFixed(3)} ms`,
      holds: overlap === 0 && holdings.length >= 4 && looks > 500,
    },
  ]
}

function figureOf(
  { cause, from, to, endedAt, grantedAt }: Takeover,
  holdings: readonly Holding[],
  bounds: Bounds,
): Figure {
  const latency = grantedAt - endedAt
  const end = { SIGKILL: 'killed', SIGSTOP: 'stopped', release: 'asked to end' }[cause]
  const bound = cause === 'release' ? bounds.handOver : bounds.takeover
  const last = holdings.filter(({ holder, from: since }) => holder === from && since <= endedAt).at(-1)
  // Without a release, the validity must have expired before the next grant.
  const isOver = last !== undefined && (cause === 'release' ? last.to <= grantedAt : last.validUntil <= grantedAt)
  return {
    label: `${from} ${end}, ${to} granted`,
    value: `${latency.toFixed(1)} ms later`,
    holds: isOver && latency < bound,
  }
}

/** Whether tokens never decrease, and each token belongs to one writer. */
export function isInOrder(entries: readonly Entry[]): boolean {
  return entries.every(({ token, writer }, place) => {
    const before = entries[place - 1]
    return before === undefined || token > before.token || (token === before.token && writer === before.writer)
  })
}

/** One line for each figure. In a narrow terminal, the value has a line of its own. */
export function toText(figures: readonly Figure[], out: NodeJS.WriteStream): string {
  const width = Math.max(...figures.map(({ label }) => label.length))
  const longest = Math.max(...figures.map(({ value }) => value.length))
  const isNarrow = 6 + width + longest >= columnsOf(out)
  return figures
    .map(({ label, value, holds }) => {
      const mark = holds ? coloured(out, 'green', '✔') : coloured(out, 'red', '✘')
      return isNarrow
        ? `  ${mark} ${wrapped('', label, columnsOf(out) - 4).replaceAll('\n', '\n    ')}\n      ${value}`
        : `  ${mark} ${label.padEnd(width)}  ${value}`
    })
    .join('\n')
}
