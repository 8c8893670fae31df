import { type Holding, readHoldings } from './holding-record.js'
import type { Entry } from './ledger.js'
import { overlapOf } from './overlap.js'

/** How the lease came to its next holder. */
export interface Takeover {
  readonly cause: 'SIGKILL' | 'SIGSTOP' | 'release'
  readonly from: string
  readonly to: string
  /** When the holder was ended, stopped or asked to end, and when the next one was granted; on the machine's clock. */
  readonly endedAt: number
  readonly grantedAt: number
}

/** What the script saw; the rest is in the processes' own records. */
export interface Seen {
  readonly takeovers: readonly Takeover[]
  readonly lateWritesRefused: number
  readonly lateWritesAccepted: number
  /** Whether the process that was stopped found its lease over before it did anything else. */
  readonly foundItselfLost: boolean
}

/** A figure of the summary, and whether it is as it has to be. */
export interface Figure {
  readonly what: string
  readonly value: string
  readonly holds: boolean
}

/** How long the next holder may take, on a machine that is busy with other things; in milliseconds. */
export interface Bounds {
  readonly handOver: number
  readonly takeover: number
}

/** Works out every figure from the records that the processes wrote, and from the ledger. */
export function summarise(
  folder: string,
  names: readonly string[],
  entries: readonly Entry[],
  seen: Seen,
  bounds: Bounds,
): readonly Figure[] {
  const holdings = names.flatMap((name) => readHoldings(folder, name))
  const looks = holdings.reduce((sum, holding) => sum + holding.looks, 0)
  const overlap = overlapOf(holdings)
  const { takeovers, lateWritesRefused, lateWritesAccepted, foundItselfLost } = seen
  return [
    ...takeovers.map((takeover) => figureOf(takeover, holdings, bounds)),
    { what: 'takeovers', value: String(takeovers.length), holds: takeovers.length === 3 },
    {
      what: 'the stopped holder, continued, found itself lost before it wrote',
      value: foundItselfLost ? 'yes' : 'no',
      holds: foundItselfLost,
    },
    { what: 'writes accepted', value: String(entries.length), holds: entries.length > 0 && isInOrder(entries) },
    {
      what: 'late writes refused by the fencing token',
      value: `${lateWritesRefused} of ${lateWritesRefused + lateWritesAccepted}`,
      holds: lateWritesRefused > 0 && lateWritesAccepted === 0,
    },
    {
      what: `overlap, over ${holdings.length} holdings and ${looks.toLocaleString('en')} looks at checkLease()`,
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
  const what = { SIGKILL: 'killed', SIGSTOP: 'stopped', release: 'asked to end' }[cause]
  const bound = cause === 'release' ? bounds.handOver : bounds.takeover
  const last = holdings.filter(({ holder, from: since }) => holder === from && since <= endedAt).at(-1)
  // A validity that nobody gave back has to run out first.
  const isOver = last !== undefined && (cause === 'release' ? last.to <= grantedAt : last.validUntil <= grantedAt)
  return {
    what: `${from} ${what}, ${to} granted`,
    value: `${latency.toFixed(1)} ms later`,
    holds: isOver && latency < bound,
  }
}

/** Tokens never go back, and each is one writer's. */
export function isInOrder(entries: readonly Entry[]): boolean {
  return entries.every(({ token, writer }, place) => {
    const before = entries[place - 1]
    return before === undefined || token > before.token || (token === before.token && writer === before.writer)
  })
}

export function toText(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ what }) => what.length))
  return figures.map(({ what, value, holds }) => `  ${holds ? '✔' : '✘'} ${what.padEnd(width)}  ${value}`).join('\n')
}
