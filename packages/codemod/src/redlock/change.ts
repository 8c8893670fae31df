import ts from 'typescript'
import type { TextEdit } from '../text-edit.js'
import { NotSure } from './not-sure.js'

/** What a changed file imports from Leasehold. */
export type ImportedName = 'createLease' | 'LeaseHeldError' | 'LeaseStore' | 'RedisLeaseStore' | 'AllOf'

/** Edits of one file, and the names that the new code needs. */
export interface Change {
  readonly file: ts.SourceFile
  readonly edits: readonly TextEdit[]
  readonly imports: readonly ImportedName[]
}

/** Throws if there is a comment between two places whose text will be replaced: it would be lost. */
export function refuseComments(file: ts.SourceFile, start: number, end: number, node: ts.Node): void {
  const scanner = ts.createScanner(
    ts.ScriptTarget.Latest,
    false,
    ts.LanguageVariant.Standard,
    file.text.slice(start, end),
  )
  for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan())
    if (token === ts.SyntaxKind.SingleLineCommentTrivia || token === ts.SyntaxKind.MultiLineCommentTrivia)
      throw new NotSure(
        node,
        'a comment stands between the parts that change: move it to a line of its own, and run this again',
      )
}

/** Whether `inner` is `outer`, or a part of it. */
export function isWithin(inner: ts.Node, outer: ts.Node): boolean {
  for (let node: ts.Node | undefined = inner; node !== undefined; node = node.parent) if (node === outer) return true
  return false
}
