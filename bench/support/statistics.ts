/** The value that so many of the values, a part from 0 to 1, do not exceed; `NaN` of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export function largest(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((a, b) => Math.max(a, b))
}

/** How many pairs of an order of service were served the other way round than they came. */
export function inversions(order: readonly number[]): number {
  let count = 0
  for (const [place, index] of order.entries()) {
    for (let later = place + 1; later < order.length; later += 1) {
      if ((order[later] ?? index) < index) count += 1
    }
  }
  return count
}
