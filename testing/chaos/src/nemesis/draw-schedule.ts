import { Random } from '../../../../packages/testkit/src/random.js'
import type { FaultChoice, PlannedFault } from './planned-fault.js'

export interface ScheduleBounds {
  /** Of the run, in milliseconds. */
  readonly duration: number
  /** No fault lasts into this time at the end, in which the system recovers. */
  readonly calmEnd: number
  readonly choices: readonly FaultChoice[]
}

/** The first grants come before the first fault. */
const CALM_BEGIN = 2_000
/** The bounds of the time from the begin of a fault to the begin of the next, in milliseconds. */
const PAUSES = [200, 2_500] as const
/** How many faults follow each other before a calm period, and how long it is. */
const STORMS = [3, 10] as const
const CALMS = [2_000, 5_000] as const
/** How often a calm period begins only when all faults of the storm are over. */
const WAITS_FOR_END = 0.5

/**
 * The faults of a run: storms, with calm periods between. The same for the same seed and bounds. Faults of one target never
 * overlap; those of different targets do.
 */
export function drawSchedule(seed: number, { duration, calmEnd, choices }: ScheduleBounds): PlannedFault[] {
  const random = new Random(seed)
  const drawn = choices.filter(({ weight }) => weight > 0)
  const lastEnd = duration - calmEnd
  const faults: PlannedFault[] = []
  const busyUntil = new Map<string, number>()
  let left = random.whole(...STORMS)
  for (
    let at = CALM_BEGIN + random.between(...PAUSES);
    at < lastEnd && drawn.length > 0;
    at += random.between(...PAUSES)
  ) {
    if (left === 0) {
      left = random.whole(...STORMS)
      const ends = random.chance(WAITS_FOR_END) ? Math.max(at, ...busyUntil.values()) : at
      at = ends + random.between(...CALMS)
    }
    left -= 1
    const free = drawn.filter(
      ({ target, lasts: [least] }) => (busyUntil.get(target) ?? 0) <= at && at + least <= lastEnd,
    )
    const choice = weighted(random, free)
    if (choice === undefined) continue
    const { kind, target, lasts, most } = choice
    const [shortest, longest] = lasts
    const duration = Math.min(random.between(shortest, longest), lastEnd - at)
    const amount = most === undefined ? {} : { amount: Math.round(random.between(-most, most)) }
    faults.push({ kind, target, at: Math.floor(at), lasts: Math.floor(duration), ...amount })
    busyUntil.set(target, at + duration + 1)
  }
  return faults
}

function weighted(random: Random, choices: readonly FaultChoice[]): FaultChoice | undefined {
  let left = random.next() * choices.reduce((sum, { weight }) => sum + weight, 0)
  return choices.find(({ weight }) => {
    left -= weight
    return left < 0
  })
}
