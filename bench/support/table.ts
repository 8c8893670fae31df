/** A table in Markdown, with ` | ` between the cells of its head; numbers to the right. */
export function table(head: string, rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    `| ${head} |`,
    line(head.split(' | ').map((_, place) => (place === 0 ? '---' : '--:'))),
    ...rows.map(line),
  ].join('\n')
}

/** Milliseconds and counts as people read them. */
export function shown(value: number): string {
  if (Number.isNaN(value)) return '–'
  const digits = value !== 0 && Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}
