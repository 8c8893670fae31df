/** A table in Markdown; numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, place) => (place === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

/** Milliseconds and counts as people read them. */
export function shown(value: number): string {
  if (Number.isNaN(value)) return '–'
  const digits = value !== 0 && Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}
