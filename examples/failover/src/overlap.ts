/** A span of time on one clock, in milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** For how long at least two of the spans lasted at once, in milliseconds: 0 where they follow one another. */
export function overlapOf(spans: readonly Span[]): number {
  const edges = spans.flatMap(({ from, to }) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ])
  // Of what ends and begins at one instant, the end comes first.
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
