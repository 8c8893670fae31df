import ts from 'typescript'
import type { TextEdit } from '../text-edit.js'
import type { ImportedName } from './change.js'
import { NotSure } from './not-sure.js'
import type { RedlockImport } from './redlock-imports.js'

const modules: Readonly<Record<ImportedName, string>> = {
  createLease: '@leasehold/core',
  LeaseHeldError: '@leasehold/core',
  LeaseStore: '@leasehold/core',
  AllOf: '@leasehold/recipes',
  RedisLeaseStore: '@leasehold/redis',
}

/** The edits that import what the new code needs, in the place of the imports of redlock that are no longer used. */
export function importEdits(
  file: ts.SourceFile,
  needed: ReadonlySet<ImportedName>,
  unused: readonly RedlockImport[],
): TextEdit[] {
  const missing = [...needed].filter((name) => !isImported(file, name))
  const newline = file.text.includes('\r\n') ? '\r\n' : '\n'
  const lines = importLines(file, missing)
  const [first, ...others] = unused.map(({ statement }) => statement)
  const removed = others.map((statement) => ({ ...lineOf(statement), text: '' }))
  if (first !== undefined && lines.length > 0)
    return [{ start: first.getStart(), end: first.end, text: lines.join(newline) }, ...removed]
  if (first !== undefined) return [{ ...lineOf(first), text: '' }, ...removed]
  if (lines.length === 0) return []
  const last = file.statements.findLast(isImport)
  if (last !== undefined) return [{ start: last.end, end: last.end, text: newline + lines.join(newline) }]
  const next = file.statements.find((statement) => !isDirective(statement))?.getStart() ?? file.end
  return [{ start: next, end: next, text: lines.join(newline) + newline + newline }]
}

/** The whole line of a statement, if nothing else is on it. */
function lineOf(statement: ts.Node): { readonly start: number; readonly end: number } {
  const { text } = statement.getSourceFile()
  const lineStart = text.lastIndexOf('\n', statement.getStart() - 1) + 1
  const rest = /^[ \t]*\r?\n/.exec(text.slice(statement.end))?.[0]
  const isAlone = text.slice(lineStart, statement.getStart()).trim() === ''
  return isAlone && rest !== undefined
    ? { start: lineStart, end: statement.end + rest.length }
    : { start: statement.getStart(), end: statement.end }
}

/** Deletes a statement with the comments that stand right above it, and one of two blank lines around it. */
export function removalOf(statement: ts.Statement): TextEdit {
  const { text } = statement.getSourceFile()
  const line = lineOf(statement)
  if (line.start === statement.getStart() && line.end === statement.end) return { ...line, text: '' }
  let { start, end } = line
  for (const comment of (ts.getLeadingCommentRanges(text, statement.getFullStart()) ?? []).reverse()) {
    if (!/^[ \t]*\r?\n?[ \t]*$/.test(text.slice(comment.end, start))) break
    const lineStart = text.lastIndexOf('\n', comment.pos - 1) + 1
    if (text.slice(lineStart, comment.pos).trim() !== '' || comment.pos === 0) break
    start = lineStart
  }
  const blank = /^[ \t]*\r?\n/.exec(text.slice(end))?.[0]
  if (blank !== undefined && /(^|\n[ \t]*\r?\n)$/.test(text.slice(0, start))) end += blank.length
  return { start, end, text: '' }
}

/** Throws a `NotSure` if a name that the new code needs stands for something else in the file. */
export function refuseTakenNames(file: ts.SourceFile, needed: readonly ImportedName[], node: ts.Node): void {
  for (const name of needed) {
    if (isImported(file, name)) continue
    if (new RegExp(`\\b${name}\\b`).test(file.text))
      throw new NotSure(node, `the name ${name} is taken in this file: change this by hand`)
  }
}

function importLines(file: ts.SourceFile, names: readonly ImportedName[]): string[] {
  const isTyped = /\.[cm]?tsx?$/.test(file.fileName)
  const isCommonJs =
    !file.statements.some((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
    (/\.cjs$/.test(file.fileName) || (!isTyped && /\brequire\(|\bmodule\.exports\b/.test(file.text)))
  const last = file.statements.find(isImport)
  const quote = last?.getText().includes('"') === true ? '"' : "'"
  const end = last === undefined || last.getText().endsWith(';') ? ';' : ''
  const used = [...new Set(names.map((name) => modules[name]))].sort()
  return used.map((module) => {
    const mine = names.filter((name) => modules[name] === module).sort((a, b) => a.localeCompare(b, 'en'))
    const list = mine.map((name) => (name === 'LeaseStore' ? 'type LeaseStore' : name)).join(', ')
    const from = `${quote}${module}${quote}`
    if (isCommonJs) return `const { ${list} } = require(${from})${end}`
    return list === 'type LeaseStore'
      ? `import type { LeaseStore } from ${from}${end}`
      : `import { ${list} } from ${from}${end}`
  })
}

function isImport(statement: ts.Statement): boolean {
  return (
    ts.isImportDeclaration(statement) ||
    ts.isImportEqualsDeclaration(statement) ||
    (ts.isVariableStatement(statement) && /\brequire\(/.test(statement.getText()))
  )
}

function isDirective(statement: ts.Statement): boolean {
  return ts.isExpressionStatement(statement) && ts.isStringLiteral(statement.expression)
}

function isImported(file: ts.SourceFile, name: ImportedName): boolean {
  return file.statements.some(
    (statement) =>
      isImport(statement) &&
      statement.getText().includes(modules[name]) &&
      new RegExp(`[{,]\\s*(type\\s+)?${name}\\s*[,}]`).test(statement.getText()),
  )
}
