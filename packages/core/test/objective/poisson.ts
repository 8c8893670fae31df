/** The chance of `count` or more independent events where `mean` are expected. */
export function partAtLeast(count: number, mean: number): number {
  return count === 0 ? 1 : 1 - partAtMost(count - 1, mean)
}

/** The chance of `count` or fewer. */
export function partAtMost(count: number, mean: number): number {
  let sum = 0
  let logarithm = -mean
  for (let events = 0; events <= count; events += 1) {
    if (events > 0) logarithm += Math.log(mean / events)
    sum += Math.exp(logarithm)
  }
  return Math.min(sum, 1)
}
