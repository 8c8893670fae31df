const INSTANT = 12

/** A table of what happened. Each line is an instant; each node or client has a column. */
export class TimelineTable {
  readonly #columns: readonly string[]
  readonly #width: number

  constructor(columns: readonly string[], width = 12) {
    this.#columns = columns
    this.#width = width
  }

  head(): string {
    return `${'ms'.padStart(INSTANT)}  ${this.#columns.map((title) => title.padEnd(this.#width)).join(' ')}`
  }

  /** An event without a column spans all columns. */
  line(at: number, column: number | undefined, event: string): string {
    const content = column === undefined ? `** ${event}` : `${' '.repeat(column * (this.#width + 1))}${event}`
    return `${instant(at)}  ${content}`.trimEnd()
  }

  /** For what is left out at the begin. */
  more(content: string): string {
    return `${'…'.padStart(INSTANT)}  ${content}`
  }
}

export function instant(at: number): string {
  return at.toFixed(1).padStart(INSTANT)
}
