import type { IncludeRequest } from './include-source.js'
import type { Scanner } from './scanner.js'
import type { Document, Include, Origin } from './syntax-tree.js'

/** Returns the documents of the statement at `origin` in merge order. */
export type IncludeLoader = (request: IncludeRequest, required: boolean, origin: Origin) => readonly Document[]

/** Begins an include statement, as a whole word at the start of a key. */
export const INCLUDE = 'include'

const kinds = ['file', 'url', 'classpath'] as const

/** Reads the statement that begins here and loads its documents. */
export function readIncludeStatement(scanner: Scanner, load: IncludeLoader): Include {
  const { origin } = scanner
  scanner.take(INCLUDE)
  scanner.skip()
  const required = scanner.take('required(')
  scanner.skip()
  const kind = kinds.find((known) => scanner.take(`${known}(`)) ?? 'heuristic'
  scanner.skip()
  if (scanner.next !== '"') throw scanner.unexpected('a quoted name to include')
  const name = scanner.quoted()
  if (kind !== 'heuristic') close(scanner)
  if (required) close(scanner)
  return { kind: 'include', documents: load({ kind, name, from: origin.source }, required, origin) }
}

function close(scanner: Scanner): void {
  scanner.skip()
  if (!scanner.take(')')) throw scanner.unexpected("')' at the end of the include statement")
}
