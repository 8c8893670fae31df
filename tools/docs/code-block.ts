/** A fenced block of code in a page. */
export interface CodeBlock {
  /** What stands behind the opening fence, such as `ts`. */
  readonly language: string
  /** What the comment above it names, `path#region` or `path`, from the root of the repository. */
  readonly source: string | undefined
  readonly code: string
  /** The lines of the page that the code takes, from 0, the last one not included. */
  readonly start: number
  readonly end: number
}

const FENCE = /^\s*(?<ticks>`{3,})(?<language>[\w-]*)/
const SOURCE = /^\s*<!-- from: (?<source>\S+) -->\s*$/

/** The fenced blocks of a page, each with the file that the comment right above it names. */
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

/** The page with its fenced blocks blanked out, line by line, so that only prose is left. */
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
