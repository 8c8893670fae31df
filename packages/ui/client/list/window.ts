/** The lines that are drawn: from `first` up to, but without, `end`. */
export interface LineWindow {
  readonly first: number
  readonly end: number
}

/** The visible part of a scrolled list, in pixels. */
export interface Viewport {
  readonly scrollTop: number
  readonly height: number
  readonly lineHeight: number
}

/** The drawn lines begin and end at multiples of this number: not every line that is scrolled past costs a drawing. */
const step = 4

/** Lines above and below the visible ones are drawn too, so that a fast scroll meets no empty space. */
const spare = 6

export function windowOf({ scrollTop, height, lineHeight }: Viewport, count: number): LineWindow {
  // A list that became shorter is scrolled beyond its end for a moment.
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, count * lineHeight - height))
  const start = Math.floor((top / lineHeight - spare) / step) * step
  const end = start + Math.ceil(height / lineHeight) + 2 * spare + step
  return { first: Math.max(0, start), end: Math.min(count, end) }
}

/** Where to scroll so that the line `index` is seen whole; `undefined` if it is. */
export function scrollTopFor(index: number, { scrollTop, height, lineHeight }: Viewport): number | undefined {
  const top = index * lineHeight
  if (top < scrollTop) return top
  return top + lineHeight > scrollTop + height ? top + lineHeight - height : undefined
}
