const MARK = /^\s*(?:\/\/|#) #(?<end>end)?region (?<name>\S+)\s*$/

/**
 * The part of a file between `// #region name` and `// #endregion name` (in a `.conf` file, `# #region name`), without
 * its margin and without the marks of other regions. Without a name: the whole file.
 *
 * Throws if the region is missing or has no end.
 */
export function regionOf(source: string, name: string | undefined): string {
  const lines = source.trimEnd().split('\n')
  if (name === undefined) return withoutMargin(lines)
  const start = lines.findIndex((line) => isMark(line, name, false))
  const end = lines.findIndex((line, index) => index > start && isMark(line, name, true))
  if (start === -1) throw new Error(`no region "${name}"`)
  if (end === -1) throw new Error(`region "${name}" does not end`)
  return withoutMargin(lines.slice(start + 1, end))
}

function isMark(line: string, name: string, end: boolean): boolean {
  const mark = MARK.exec(line)?.groups
  return mark !== undefined && mark.name === name && (mark.end !== undefined) === end
}

function withoutMargin(lines: readonly string[]): string {
  const shown = lines.filter((line) => !MARK.test(line))
  const margins = shown.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
  const margin = Math.min(...margins)
  return shown
    .map((line) => line.slice(margin))
    .join('\n')
    .trim()
}
