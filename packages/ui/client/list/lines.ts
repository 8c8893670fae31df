import type { Entry } from './entry.js'

/** One line of the list. */
export type Line =
  | { readonly kind: 'group'; readonly group: string; readonly count: number; readonly isOpen: boolean }
  | { readonly kind: 'lease'; readonly entry: Entry }

/** The lines of a list, without an object for each of ten thousand when forty are seen. */
export interface Lines {
  readonly count: number
  at(index: number): Line | undefined
}

export function plainLines(entries: readonly Entry[]): Lines {
  return {
    count: entries.length,
    at: (index) => {
      const entry = entries[index]
      return entry && { kind: 'lease', entry }
    },
  }
}

interface Part {
  readonly group: string
  readonly isOpen: boolean
  /** The index of its first entry. */
  readonly start: number
  readonly count: number
  /** The index of its heading among the lines. */
  readonly line: number
}

/** `entries` are sorted by group. A closed group is its heading only. */
export function groupedLines(entries: readonly Entry[], closed: ReadonlySet<string>): Lines {
  const parts: Part[] = []
  let line = 0
  for (let start = 0; start < entries.length; ) {
    const group = (entries[start] as Entry).group
    let end = start + 1
    while (end < entries.length && (entries[end] as Entry).group === group) end += 1
    const isOpen = !closed.has(group)
    parts.push({ group, isOpen, start, count: end - start, line })
    line += isOpen ? 1 + end - start : 1
    start = end
  }
  return { count: line, at: (index) => lineAt(index, parts, entries) }
}

function lineAt(index: number, parts: readonly Part[], entries: readonly Entry[]): Line | undefined {
  let low = 0
  let high = parts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((parts[middle] as Part).line <= index) low = middle + 1
    else high = middle
  }
  const part = parts[low - 1]
  if (part === undefined) return undefined
  const { group, count, isOpen, start, line } = part
  if (line === index) return { kind: 'group', group, count, isOpen }
  const entry = isOpen && index <= line + count ? entries[start + index - line - 1] : undefined
  return entry && { kind: 'lease', entry }
}
