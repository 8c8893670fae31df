export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, place) => (place === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

export function shown(value: number, digits = 1): string {
  return value.toLocaleString('en-GB', { maximumFractionDigits: digits })
}
