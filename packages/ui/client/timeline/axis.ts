const minute = 60_000

/** How much of the past the timeline shows. */
export const zooms = [15 * minute, 60 * minute, 360 * minute] as const

/** The distances of ticks that a reader can count in. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120].map((count) => count * minute)

/** The instants that the axis names: round ones, at most `most`. */
export function ticksOf({ from, to }: { readonly from: number; readonly to: number }, most: number): number[] {
  const step = steps.find((each) => (to - from) / each <= most) ?? (steps.at(-1) as number)
  const ticks: number[] = []
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) ticks.push(tick)
  return ticks
}

/** Where an instant is between both ends, in percent. */
export function placeOf(instant: number, { from, to }: { readonly from: number; readonly to: number }): number {
  return (100 * (instant - from)) / (to - from)
}
