/** One line of a table: a measurement and its upper bound. */
export interface Bound {
  readonly name: string
  readonly measured: number
  readonly atMost: number
  readonly unit: string
}

/** Prints the table. The process exits non-zero if a bound is exceeded. */
export function report(title: string, bounds: readonly Bound[]): void {
  console.log(title)
  console.table(
    Object.fromEntries(
      bounds.map(({ name, measured, atMost, unit }) => [
        name,
        { measured: Number(measured.toFixed(2)), 'at most': atMost, unit, holds: measured <= atMost },
      ]),
    ),
  )
  if (bounds.some(({ measured, atMost }) => !(measured <= atMost))) process.exitCode = 1
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** Processor time, in milliseconds: other work on the machine does not count. */
export async function processorTime(work: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
