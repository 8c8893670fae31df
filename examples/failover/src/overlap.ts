/** A span of time on one clock, in milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The total time in which at least two of the spans overlap, in milliseconds. */
export function overlapOf(spans: readonly Span[]): number {
  const edges = spans.flatMap(({ from, to }) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ])
  // At the same instant, ends come before starts, so touching spans do not overlap.
  edges.sort((a, b) => a.at - b.at || a.step - b.step)
  let overlap = 0
  let open = 0
  let since = 0
  for (const { at, step } of edges) {
    if (open >= 2) overlap += at - since
    open += step
    since = at
  }
  return overlap
}
