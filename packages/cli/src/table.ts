import { styleText } from 'node:util'
import { shownText } from '@leasehold/core/internal'
import { hasColours, type Terminal } from './terminal.js'

/** A colour of a cell. */
export type Colour = 'green' | 'yellow' | 'red' | 'dim'

export type Cell = string | readonly [text: string, colour: Colour]

/**
 * Writes a table. On a terminal: columns side by side below their titles, in colours. Elsewhere, for other programs: the
 * cells of a row between tabs, without titles.
 */
export function writeTable(
  { output, env }: Pick<Terminal, 'output' | 'env'>,
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
): void {
  if (output.isTTY !== true) {
    for (const row of rows) output.write(`${row.map(textOf).join('\t')}\n`)
    return
  }
  const lines = [titles.map((title) => [title, 'dim'] as const), ...rows]
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => textOf(line[column] ?? '').length)))
  const hasColour = hasColours(output, env)
  for (const line of lines) {
    const cells = line.map((cell, column) => {
      const isLast = column === line.length - 1
      const text = textOf(cell).padEnd(isLast ? 0 : (widths[column] ?? 0))
      // `hasColour` has checked the stream already.
      return hasColour && typeof cell !== 'string' ? styleText(cell[1], text, { validateStream: false }) : text
    })
    output.write(`${cells.join('  ').trimEnd()}\n`)
  }
}

function textOf(cell: Cell): string {
  return shownText(typeof cell === 'string' ? cell : cell[0])
}
