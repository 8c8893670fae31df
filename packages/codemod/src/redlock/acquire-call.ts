import ts from 'typescript'
import type { TextEdit } from '../text-edit.js'
import { type Change, refuseComments } from './change.js'
import type { MethodCall } from './instances.js'
import { type LeaseText, leaseText } from './lease-text.js'
import { doubtAboutLock, isRelease } from './lock-use.js'
import type { Names } from './names.js'
import { NotSure } from './not-sure.js'
import type { RetrySettings } from './retry-settings.js'
import { waitText } from './using-call.js'
import { canBeWrapped } from './wrapped-block.js'

/** A lock that is released in the `finally` block of the statement after it. */
interface LockedBlock {
  readonly statement: ts.VariableStatement
  readonly declaration: ts.VariableDeclaration
  readonly lock: ts.Identifier
  readonly following: ts.TryStatement
  readonly finallyBlock: ts.Block
  /** The releases of the lock; the first one is certain to run. */
  readonly releases: readonly ts.CallExpression[]
}

/**
 * `const lock = await redlock.acquire(…)`, followed by `try { … } finally { await lock.release() }`, becomes a `run`. Where the
 * block cannot be moved into a function, it stays, with a lease in the place of the lock. Throws a `NotSure`.
 */
export function changeAcquire(use: MethodCall, retries: RetrySettings, names: Names): Change {
  const { call, receiver } = use
  const file = call.getSourceFile()
  const [resources, duration, settings, more] = call.arguments
  if (
    call.arguments.some(ts.isSpreadElement) ||
    resources === undefined ||
    duration === undefined ||
    more !== undefined
  )
    throw new NotSure(call, 'the arguments are not all written here: change this call by hand')
  const block = lockedBlock(use, names)
  const lease = leaseText(receiver, resources, duration)
  const wait = waitText(settings, retries, call)
  const edits = wrapped(block, lease, wait) ?? inPlace(block, lease, wait, use)
  const needsError = !edits.wrapped
  return { file, edits: edits.edits, imports: needsError ? [...lease.imports, 'LeaseHeldError'] : lease.imports }
}

/** The calls of this instance that release the lock of another call: they change with it. */
export function isReleaseOfLock({ method, call }: MethodCall): boolean {
  return (method === 'release' || method === 'unlock') && call.arguments.length === 1
}

const notReleased =
  'a lease is renewed until it is released, and this lock may never be: use createLease(…).run, or follow this line by try { … } finally { await lock.release() }'

function lockedBlock({ call, receiver }: MethodCall, names: Names): LockedBlock {
  const declaration = ts.isAwaitExpression(call.parent) ? call.parent.parent : undefined
  const refuse = (): never => {
    throw new NotSure(call, notReleased)
  }
  if (declaration === undefined || !ts.isVariableDeclaration(declaration) || !ts.isIdentifier(declaration.name))
    return refuse()
  const list = declaration.parent
  const statement = list.parent
  if (!ts.isVariableStatement(statement) || !ts.isVariableDeclarationList(list) || list.declarations.length !== 1)
    return refuse()
  const { statements } = statement.parent as ts.Block
  const following = statements?.[statements.indexOf(statement) + 1]
  const finallyBlock = following !== undefined && ts.isTryStatement(following) ? following.finallyBlock : undefined
  if (following === undefined || !ts.isTryStatement(following) || finallyBlock === undefined) return refuse()
  if (declaration.type !== undefined)
    throw new NotSure(declaration.type, 'the lock has a type here: delete the type, and run this again')
  const { name: lock } = declaration
  const symbol = names.symbolOf(lock)
  const references = symbol === undefined ? [] : names.referencesTo(symbol).filter((reference) => reference !== lock)
  const releaseOf = (reference: ts.MemberName) => releaseAround(reference, lock.text, receiver.getText())
  const doubts = references.filter((reference) => releaseOf(reference) === undefined).map(doubtAboutLock)
  // The use of a member says more about what to do than a use of the lock as a whole.
  const doubt = doubts.find(({ node }) => ts.isPropertyAccessExpression(node)) ?? doubts[0]
  if (doubt !== undefined) throw doubt
  const releases = references.map(releaseOf).filter((release) => release !== undefined)
  const first = finallyBlock.statements[0]
  const certain = first === undefined ? undefined : releases.find((release) => isAwaitedIn(first, release))
  if (certain === undefined) return refuse()
  return { statement, declaration, lock, following, finallyBlock, releases }
}

function releaseAround(reference: ts.MemberName, lock: string, receiver: string): ts.CallExpression | undefined {
  const { parent } = reference
  const call = ts.isCallExpression(parent) ? parent : parent.parent
  return isRelease(call, lock, receiver) ? call : undefined
}

/** Whether the statement is `await release()`, with or without a `catch` of its promise. */
function isAwaitedIn(statement: ts.Statement, release: ts.CallExpression): boolean {
  if (!ts.isExpressionStatement(statement)) return false
  const { expression } = statement
  const awaited = ts.isAwaitExpression(expression) ? expression.expression : expression
  if (awaited === release) return true
  return (
    ts.isCallExpression(awaited) &&
    ts.isPropertyAccessExpression(awaited.expression) &&
    awaited.expression.name.text === 'catch' &&
    awaited.expression.expression === release
  )
}

interface Edits {
  readonly edits: readonly TextEdit[]
  readonly wrapped: boolean
}

/** The block as the work of `run`, which rejects at once when the lease is lost. */
function wrapped(block: LockedBlock, { text }: LeaseText, wait: string): Edits | undefined {
  const { statement, following, finallyBlock, releases } = block
  const isAlone = following.catchClause === undefined && finallyBlock.statements.length === 1 && releases.length === 1
  const release = finallyBlock.statements[0]?.getText().replace(/;$/, '') ?? ''
  if (!isAlone || release !== `await ${releases[0]?.getText()}`) return undefined
  const way = canBeWrapped(following)
  const file = following.getSourceFile()
  if (way === undefined || hasComments(file, statement, following)) return undefined
  const end = statement.getText().endsWith(';') ? ';' : ''
  const keyword = way === 'returns' ? 'return await' : 'await'
  return {
    wrapped: true,
    edits: [
      { start: statement.getStart(), end: following.tryBlock.getStart(), text: `${keyword} ${text}.run(async () => ` },
      { start: following.tryBlock.end, end: following.end, text: `${wait === '' ? '' : `, ${wait}`})${end}` },
    ],
  }
}

function hasComments(file: ts.SourceFile, statement: ts.Statement, following: ts.TryStatement): boolean {
  try {
    refuseComments(file, statement.getStart(), following.tryBlock.getStart(), statement)
    refuseComments(file, following.tryBlock.end, following.end, statement)
    return false
  } catch {
    return true
  }
}

/** The lease in the place of the lock; the block stays as it is. */
function inPlace(block: LockedBlock, { text }: LeaseText, wait: string, { call }: MethodCall): Edits {
  const { statement, declaration, lock, releases } = block
  const file = statement.getSourceFile()
  const initializer = declaration.initializer ?? call
  refuseComments(file, initializer.getStart(), initializer.end, call)
  const end = statement.getText().endsWith(';') ? ';' : ''
  const lineStart = file.text.lastIndexOf('\n', statement.getStart() - 1) + 1
  const indent = /^[ \t]*/.exec(file.text.slice(lineStart))?.[0] ?? ''
  const newline = file.text.includes('\r\n') ? '\r\n' : '\n'
  const name = lock.text
  const refusal = `throw new LeaseHeldError('another owner holds the lease', { leaseName: ${name}.settings.name })${end}`
  const check = `${newline}${indent}if (!(await ${name}.acquire(${wait}))) ${withQuotes(file, refusal)}`
  return {
    wrapped: false,
    edits: [
      { start: initializer.getStart(), end: initializer.end, text },
      { start: statement.end, end: statement.end, text: check },
      ...releases
        .filter((release) => release.getText() !== `${name}.release()`)
        .map((release) => ({ start: release.getStart(), end: release.end, text: `${name}.release()` })),
    ],
  }
}

function withQuotes(file: ts.SourceFile, text: string): string {
  const first = /require\((["'])|from (["'])/.exec(file.text)
  return (first?.[1] ?? first?.[2]) === '"' ? text.replaceAll("'", '"') : text
}
