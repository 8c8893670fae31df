import type { Scanner } from './scanner.js'
import type { Document, Include, Origin } from './syntax-tree.js'

/** How an include statement names what it includes; `heuristic` is a bare string. */
export type IncludeKind = 'heuristic' | 'file' | 'url' | 'classpath'

export interface IncludeStatement {
  readonly kind: IncludeKind
  readonly name: string
  readonly required: boolean
  /** What the text with the statement came from. */
  readonly from: string
  readonly origin: Origin
}

/** The documents that a statement stands for, in the order in which they are merged. */
export type IncludeLoader = (statement: IncludeStatement) => readonly Document[]

const KEYWORD = 'include'
const kinds = ['file', 'url', 'classpath'] as const

/** Whether an include statement begins here: the word alone, at the start of a key. */
export function seesInclude(scanner: Scanner): boolean {
  return scanner.seesWord(KEYWORD)
}

/** Reads the statement that begins here, and what it includes. */
export function readIncludeStatement(scanner: Scanner, from: string, load: IncludeLoader): Include {
  const { origin } = scanner
  scanner.take(KEYWORD)
  scanner.skip()
  const required = scanner.take('required(')
  if (required) scanner.skip()
  const named = readName(scanner)
  if (required) close(scanner)
  return { kind: 'include', documents: load({ ...named, required, from, origin }) }
}

function readName(scanner: Scanner): { kind: IncludeKind; name: string } {
  const kind = kinds.find((known) => scanner.take(`${known}(`))
  if (kind !== undefined) scanner.skip()
  if (scanner.next !== '"') throw scanner.unexpected('the name of what to include, in quotes')
  const name = scanner.quoted()
  if (kind !== undefined) close(scanner)
  return { kind: kind ?? 'heuristic', name }
}

function close(scanner: Scanner): void {
  scanner.skip()
  if (!scanner.take(')')) throw scanner.unexpected("')' at the end of the include statement")
}
