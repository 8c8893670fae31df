import { styleText } from 'node:util'
import { hasColours, type OutputStream, type Terminal } from './terminal.js'

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
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[column] ?? '').length)),
  )
  writeLine(
    output,
    titles.map((title) => [title, 'dim'] as const),
    widths,
    env,
  )
  for (const row of rows) writeLine(output, row, widths, env)
}

function writeLine(output: OutputStream, row: readonly Cell[], widths: readonly number[], env: Terminal['env']): void {
  const cells = row.map((cell, column) => {
    const isLast = column === row.length - 1
    return coloured(cell, isLast ? 0 : (widths[column] ?? 0), hasColours(output, env))
  })
  output.write(`${cells.join('  ').trimEnd()}\n`)
}

function coloured(cell: Cell, width: number, hasColour: boolean): string {
  const text = textOf(cell).padEnd(width)
  // The text is for a stream that the caller has looked at.
  return hasColour && typeof cell !== 'string' ? styleText(cell[1], text, { validateStream: false }) : text
}

function textOf(cell: Cell): string {
  return printable(typeof cell === 'string' ? cell : cell[0])
}

/** Names, owners and metadata are other people's texts: control characters in them must not reach a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`)
}
