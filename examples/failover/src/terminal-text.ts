import { inspect } from 'node:util'

/** Wide enough for lines that are written to a file or a pipe. */
const UNLIMITED = Number.MAX_SAFE_INTEGER

/** The width of the terminal. Other outputs do not limit a line. */
export function columnsOf(out: NodeJS.WriteStream): number {
  return out.isTTY ? out.columns : UNLIMITED
}

/** The text in a colour, if the output is a terminal with colours; respects `NO_COLOR` and `FORCE_COLOR`. */
export function coloured(out: NodeJS.WriteStream, colour: 'green' | 'red' | 'dim', text: string): string {
  if (!out.isTTY || !out.hasColors()) return text
  const [start, end] = inspect.colors[colour] ?? []
  return `\u001b[${start}m${text}\u001b[${end}m`
}

/** Joins the leading parts that fit into one line. */
export function fitting(parts: readonly string[], columns: number): string {
  let line = ''
  for (const part of parts) {
    if (line.length + part.length >= columns) break
    line += part
  }
  return line
}

/** Wraps a text between words. All lines are indented by the width of the label, which starts the first. */
export function wrapped(label: string, text: string, columns: number): string {
  const lines: string[] = []
  let line = label
  for (const word of text.split(' ')) {
    if (line.length > label.length && line.length + 1 + word.length >= columns) {
      lines.push(line)
      line = ' '.repeat(label.length)
    }
    line += line.length > label.length ? ` ${word}` : word
  }
  return [...lines, line].join('\n')
}
