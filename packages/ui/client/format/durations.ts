const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

type DurationUnit = (typeof units)[number][0]
export type DurationPart = readonly [unit: DurationUnit, count: number]

/** The two largest units of a duration, such as 2 hours 5 minutes; less than a second is 0 seconds. */
export function partsOf(duration: number): DurationPart[] {
  let rest = Math.max(0, Math.floor(duration / 1_000)) * 1_000
  const parts: DurationPart[] = []
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length)
    rest -= count * length
    if (count > 0 || parts.length > 0) parts.push([unit, count])
    if (parts.length === 2) break
  }
  const found = parts.filter(([, count]) => count > 0)
  return found.length > 0 ? found : [['second', 0]]
}

/** The largest unit of which a duration has a whole one, rounded down, as relative times have it. */
export function largestOf(duration: number): DurationPart {
  for (const [unit, length] of units) {
    const count = Math.floor(Math.abs(duration) / length)
    if (count >= 1) return [unit, count]
  }
  return ['second', 0]
}
