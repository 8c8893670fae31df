/**
 * Changes a store, and compares three ways to choose durations: fixed, learned, and by an oracle. Writes the figures into
 * docs/internals/what-comes-after.md.
 */
import { writeFigures } from '../support/page.js'
import { table } from '../support/table.js'
import { type Outcome, runShift } from './shift.js'
import { shifts } from './shifts.js'

/** Of each rate, at most. */
const DAYS = 30_000

const FAILOVERS = [2_000, 5_000]

const rows = FAILOVERS.flatMap((failover) =>
  shifts.map((shift) => {
    const { fixed, learned, oracle } = runShift(shift, { failover, falseLossesPerYear: 1 }, DAYS)
    const outcomes = [fixed, learned.hour, learned.day, learned.month, oracle]
    return [shift.name, `${failover / 1_000} s`, ...outcomes.map(cell)]
  }),
)
const figures = table(
  'the store changes | failover | fixed | after an hour | after a day | after a month | oracle',
  rows,
)
process.stdout.write(`${figures}\n`)
writeFigures('internals/what-comes-after', { learned: figures })

/** The losses, the time of a take-over, and whether the process warns. */
function cell({ losses, takeOver, isWarning }: Outcome): string {
  if (losses === Number.POSITIVE_INFINITY) return 'never held'
  const rate = losses < 0.01 ? 'below 0.01' : Number(losses.toPrecision(2)).toLocaleString('en')
  return `${rate}, ${Number((takeOver / 1_000).toPrecision(2))} s${isWarning ? ', warns' : ''}`
}
