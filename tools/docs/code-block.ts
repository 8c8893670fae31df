/** A fenced code block of a page. */
export interface CodeBlock {
  /** The text after the opening fence, such as `ts`. */
  readonly language: string
  /** The source in the comment above the block: `path#region` or `path`, relative to the root of the repository. */
  readonly source: string | undefined
  readonly code: string
  /** The lines of the code in the page, counted from 0; `end` is not included. */
  readonly start: number
  readonly end: number
}

const FENCE = /^\s*(?<ticks>`{3,})(?<language>[\w-]*)/
const SOURCE = /^\s*<!-- from: (?<source>\S+) -->\s*$/

/** The fenced blocks of a page, with their sources. */
export function codeBlocks(page: string): CodeBlock[] {
  const lines = page.split('\n')
  const blocks: CodeBlock[] = []
  for (let line = 0; line < lines.length; line += 1) {
    const fence = FENCE.exec(lines[line] ?? '')?.groups
    if (fence === undefined) continue
    const start = line + 1
    const end = closingFence(lines, start, fence.ticks ?? '')
    const code = lines.slice(start, end).join('\n')
    blocks.push({ language: fence.language ?? '', source: sourceAbove(lines, line), code, start, end })
    line = end
  }
  return blocks
}

/** The sources in comments that have no block below them, with their lines, counted from 1. */
export function sourcesWithoutBlock(page: string): { readonly source: string; readonly line: number }[] {
  const lines = proseOf(page).split('\n')
  return lines.flatMap((text, index) => {
    const source = SOURCE.exec(text)?.groups?.source
    const below = lines[index + 1]?.trim() === '' ? lines[index + 2] : lines[index + 1]
    return source === undefined || FENCE.test(below ?? '') ? [] : [{ source, line: index + 1 }]
  })
}

/** The page with empty lines in place of its code. */
export function proseOf(page: string): string {
  const lines = page.split('\n')
  for (const { start, end } of codeBlocks(page)) lines.fill('', start, end)
  return lines.join('\n')
}

function closingFence(lines: readonly string[], from: number, ticks: string): number {
  const found = lines.findIndex((line, index) => index >= from && line.trim() === ticks)
  return found === -1 ? lines.length : found
}

function sourceAbove(lines: readonly string[], fence: number): string | undefined {
  const above = lines[fence - 1]?.trim() === '' ? lines[fence - 2] : lines[fence - 1]
  return SOURCE.exec(above ?? '')?.groups?.source
}
