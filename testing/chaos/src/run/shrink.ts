/** What to shrink by, and for how long. */
export interface ShrinkOptions<T> {
  /** Whether the run with these faults only still fails. Real runs differ: a set is tried several times. */
  readonly fails: (faults: readonly T[]) => Promise<boolean>
  /** How often a set of faults is tried before it counts as harmless. */
  readonly tries: number
  /** Asked before each run: false when the time is over. */
  readonly goesOn: () => boolean
}

/** The smallest list that was found to fail still, by delta debugging: halves, quarters and so on, and what is left without them. */
export async function shrink<T>(
  faults: readonly T[],
  { fails, tries, goesOn }: ShrinkOptions<T>,
): Promise<readonly T[]> {
  const failsOnce = async (some: readonly T[]): Promise<boolean> => {
    for (let attempt = 0; attempt < tries && goesOn(); attempt += 1) if (await fails(some)) return true
    return false
  }
  let least = faults
  if (least.length > 0 && (await failsOnce([]))) return []
  for (let parts = 2; least.length > 1 && parts <= least.length && goesOn(); ) {
    const smaller = await firstOf(candidatesOf(least, parts), failsOnce)
    if (smaller === undefined) {
      if (parts === least.length) break
      parts = Math.min(2 * parts, least.length)
    } else {
      parts = smaller.length > least.length / 2 ? Math.max(parts - 1, 2) : 2
      least = smaller
    }
  }
  return least
}

/** The parts, and what is left without each of them. */
function candidatesOf<T>(all: readonly T[], parts: number): (readonly T[])[] {
  const size = all.length / parts
  const bounds = Array.from({ length: parts }, (_, part) => [Math.round(part * size), Math.round((part + 1) * size)])
  const pieces = bounds.map(([from, to]) => all.slice(from, to))
  const rests = parts > 2 ? bounds.map(([from = 0, to = 0]) => [...all.slice(0, from), ...all.slice(to)]) : []
  return [...pieces, ...rests]
}

async function firstOf<T>(choices: readonly T[], isGood: (choice: T) => Promise<boolean>): Promise<T | undefined> {
  for (const choice of choices) if (await isGood(choice)) return choice
  return undefined
}
