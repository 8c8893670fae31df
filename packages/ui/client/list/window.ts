/** The lines that are drawn: from `first` up to, but without, `end`. */
export interface LineWindow {
  readonly first: number
  readonly end: number
}

/** What is seen of a scrolled list, in pixels. */
export interface Viewport {
  readonly scrollTop: number
  readonly height: number
  readonly lineHeight: number
}

/** Lines above and below the visible ones are drawn too, so that a fast scroll meets no empty space. */
const spare = 8

export function windowOf({ scrollTop, height, lineHeight }: Viewport, count: number): LineWindow {
  // A list that became shorter is scrolled beyond its end for a moment.
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, count * lineHeight - height))
  return {
    first: Math.max(0, Math.floor(top / lineHeight) - spare),
    end: Math.min(count, Math.ceil((top + height) / lineHeight) + spare),
  }
}

/** Where to scroll so that the line `index` is seen whole; `undefined` if it is. */
export function scrollTopFor(index: number, { scrollTop, height, lineHeight }: Viewport): number | undefined {
  const top = index * lineHeight
  if (top < scrollTop) return top
  return top + lineHeight > scrollTop + height ? top + lineHeight - height : undefined
}
