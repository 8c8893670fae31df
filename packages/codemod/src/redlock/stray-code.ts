import ts from 'typescript'
import { NotSure } from './not-sure.js'

/** A call that looks like one of redlock, on an object whose origin is not known. */
export interface StrayCall {
  readonly name: string
  readonly doubt: NotSure
}

/** Calls that look like those of redlock, and of no instance that is known. */
export function strayCalls(
  file: ts.SourceFile,
  known: ReadonlySet<ts.CallExpression>,
  instanceNames: ReadonlySet<string>,
): StrayCall[] {
  const calls: StrayCall[] = []
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && !known.has(node)) {
      const name = lockingReceiver(node)
      if (name !== undefined && (/redlock/i.test(name) || instanceNames.has(name)))
        calls.push({
          name,
          doubt: new NotSure(node, `it is not visible where ${name} comes from: give the folder that makes it, too, or change this by hand`),
        })
    }
    ts.forEachChild(node, look)
  }
  look(file)
  return calls
}

/** The name of the object in `object.using([…], …)`, `object.acquire([…], …)` or `object.lock('…', …)`. */
function lockingReceiver({ expression, arguments: parts }: ts.CallExpression): string | undefined {
  if (!ts.isPropertyAccessExpression(expression) || !/^(using|acquire|lock)$/.test(expression.name.text)) return undefined
  if (parts.length < 2) return undefined
  const owner = ts.isNonNullExpression(expression.expression) ? expression.expression.expression : expression.expression
  if (ts.isPropertyAccessExpression(owner)) return owner.name.text
  return ts.isIdentifier(owner) ? owner.text : undefined
}

/** Places that ask for an error of redlock by its name. */
export function strayErrorNames(file: ts.SourceFile): NotSure[] {
  const doubts: NotSure[] = []
  const look = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && /^(LockError|ExecutionError|ResourceLockedError)$/.test(node.text))
      doubts.push(new NotSure(node, `no lease rejects with a ${node.text}: ask for LeaseHeldError, and change this by hand`))
    const isLockError = ts.isPropertyAccessExpression(node) && node.name.text === 'LockError'
    if (isLockError)
      doubts.push(new NotSure(node, 'no lease rejects with a LockError: ask for LeaseHeldError, and change this by hand'))
    ts.forEachChild(node, look)
  }
  look(file)
  return doubts
}

/** Reads of `signal.error`, which only the signal of redlock has. */
export function straySignalErrors(
  file: ts.SourceFile,
): { readonly node: ts.PropertyAccessExpression; readonly doubt: NotSure }[] {
  const found: { node: ts.PropertyAccessExpression; doubt: NotSure }[] = []
  const look = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && node.name.text === 'error' && /signal$/i.test(node.expression.getText()))
      found.push({
        node,
        doubt: new NotSure(node, 'the signal of a lease has its error as signal.reason: change this by hand if a lease gives the signal'),
      })
    ts.forEachChild(node, look)
  }
  look(file)
  return found
}
