/** The world of a simulated lease: its store, and the event loop of its process. Durations in milliseconds. */
export interface World {
  readonly name: string
  /** The round trip that the given part (larger than 0, up to 1) of all exceed: falls as the part grows. */
  readonly roundTrip: (part: number) => number
  /** The part of the requests that fail at once, each by itself. */
  readonly errors?: number
  readonly windows?: readonly Windows[]
}

/** Times in which something is different. */
export interface Windows {
  /** `silent`: no answers. `refused`: errors. `slow`: a part of the requests has no answer. `stall`: the loop is blocked. */
  readonly kind: 'silent' | 'refused' | 'slow' | 'stall'
  readonly everyDays: number
  /** How long, for a part as of a round trip. */
  readonly lasts: (part: number) => number
  /** For `slow`: the part of the requests without an answer. */
  readonly part?: number
}

/** Durations whose logarithm is normal: `median`, and by which factor one in six is longer (`spread`). */
export function lognormal(median: number, spread: number): (part: number) => number {
  return (part) => median * spread ** normalQuantile(1 - part)
}

/** Durations of at least `least`, whose tail falls with this power. */
export function pareto(least: number, power: number): (part: number) => number {
  return (part) => least * part ** (-1 / power)
}

/** Some durations are of one kind (`rare` of them), the others of another. Solved for the part by bisection. */
export function mixed(usual: (part: number) => number, other: (part: number) => number, rare: number) {
  return tabled((part: number): number => {
    let [short, long] = [1e-3, 1e12]
    for (let step = 0; step < 60; step += 1) {
      const middle = Math.sqrt(short * long)
      const exceed = (1 - rare) * partAbove(usual, middle) + rare * partAbove(other, middle)
      if (exceed > part) short = middle
      else long = middle
    }
    return long
  })
}

/** From a table, because a bisection for each heartbeat would take days. */
function tabled(durations: (part: number) => number): (part: number) => number {
  const table = Float64Array.from({ length: OCTAVES * PER_OCTAVE + 1 }, (_, place) =>
    Math.log(durations(2 ** (-place / PER_OCTAVE))),
  )
  return (part) => {
    const place = Math.min(-Math.log2(part) * PER_OCTAVE, OCTAVES * PER_OCTAVE)
    const low = Math.floor(place)
    const [from = 0, to = from] = [table[low], table[low + 1]]
    return Math.exp(from + (to - from) * (place - low))
  }
}

const OCTAVES = 60
const PER_OCTAVE = 32

/** Those that were recorded, and between them those on the lines between their logarithms. */
export function recorded(durations: readonly number[]): (part: number) => number {
  const sorted = [...durations].sort((one, other) => other - one)
  return (part) => {
    const place = Math.min(part * sorted.length, sorted.length - 1)
    const [longer = 0, shorter = longer] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
    return longer * (shorter / longer) ** (place - Math.floor(place))
  }
}

/** The part of the durations that exceed this one. */
export function partAbove(durations: (part: number) => number, duration: number): number {
  let [small, large] = [1e-18, 1]
  if (durations(small) <= duration) return 0
  for (let step = 0; step < 60; step += 1) {
    const middle = Math.sqrt(small * large)
    if (durations(middle) > duration) small = middle
    else large = middle
  }
  return large
}

/** Acklam's approximation of the quantiles of the normal distribution; relative error below 1.2e-9. */
function normalQuantile(part: number): number {
  if (part > 0.5) return -lowerQuantile(1 - part)
  return lowerQuantile(part)
}

function lowerQuantile(part: number): number {
  const least = Math.max(part, 1e-300)
  if (least < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(least))
    const above =
      ((((-7.784894002430293e-3 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) * q +
        4.374664141464968) *
        q +
      2.938163982698783
    const below =
      (((7.784695709041462e-3 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1
    return above / below
  }
  const q = least - 0.5
  const r = q * q
  const above =
    (((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.357751867269) * r -
      30.66479806614716) *
      r +
      2.506628277459239) *
    q
  const below =
    ((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r -
      13.28068155288572) *
      r +
    1
  return above / below
}
