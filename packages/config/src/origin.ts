/** Where something stands in a configuration; lines and columns count from 1, and are 0 where there are none. */
export interface Origin {
  /** The file, or what else the text came from. */
  readonly source: string
  readonly line: number
  readonly column: number
}

/** `file:line:column`, or what of it is known. */
export function formatOrigin({ source, line, column }: Origin): string {
  return line === 0 ? source : `${source}:${line}:${column}`
}
