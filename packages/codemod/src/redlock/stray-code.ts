import ts from 'typescript'
import { NotSure } from './not-sure.js'

/** Code that may use an instance whose origin is not known. */
export interface StrayUse {
  readonly name: string
  readonly doubt: NotSure
}

/** The instances that are known. */
interface Known {
  readonly calls: ReadonlySet<ts.CallExpression>
  readonly names: ReadonlySet<string>
  isFollowed(name: ts.Node): boolean
}

/** Code that may use redlock, or an instance by its name, and that is not followed. */
export function strayUses(file: ts.SourceFile, known: Known): StrayUse[] {
  const uses: StrayUse[] = []
  const look = (node: ts.Node): void => {
    const name = strayName(node, known)
    if (name !== undefined) {
      const sentence = `it is not visible where ${name} comes from: give the folder that makes it, too, or change this by hand`
      uses.push({ name, doubt: new NotSure(node, sentence) })
    }
    ts.forEachChild(node, look)
  }
  look(file)
  return uses
}

function strayName(node: ts.Node, known: Known): string | undefined {
  if (ts.isCallExpression(node)) {
    const name = known.calls.has(node) ? undefined : lockingReceiver(node)
    return name !== undefined && (/redlock/i.test(name) || known.names.has(name)) ? name : undefined
  }
  // The type checker knows what object['name'] is, but no edit follows it.
  if (ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression)) {
    const { text } = node.argumentExpression
    return known.names.has(text) ? text : undefined
  }
  const name = takenName(node)
  return name !== undefined && known.names.has(name.text) && !known.isFollowed(name) ? name.text : undefined
}

/** The name by which an object is taken out of another one: `{ name } = object`, `object.name`, an import. */
function takenName(node: ts.Node): ts.Identifier | undefined {
  if (ts.isBindingElement(node)) return ts.isIdentifier(node.name) ? nameOf(node.propertyName, node.name) : undefined
  if (ts.isImportSpecifier(node) && !ts.isStringLiteral(node.propertyName ?? node.name))
    return nameOf(node.propertyName, node.name)
  if (!ts.isVariableDeclaration(node) || node.initializer === undefined) return undefined
  const { initializer } = node
  return ts.isPropertyAccessExpression(initializer) && ts.isIdentifier(initializer.name) ? initializer.name : undefined
}

/** A renamed part is followed if its new name is. */
function nameOf(property: ts.Node | undefined, name: ts.Identifier): ts.Identifier | undefined {
  if (property === undefined) return name
  return ts.isIdentifier(property) ? property : undefined
}

/** The name of the object in `object.using([…], …)`, `object.acquire([…], …)` or `object.lock('…', …)`. */
function lockingReceiver({ expression, arguments: parts }: ts.CallExpression): string | undefined {
  if (!ts.isPropertyAccessExpression(expression) || !/^(using|acquire|lock)$/.test(expression.name.text))
    return undefined
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
      doubts.push(
        new NotSure(node, `no lease rejects with a ${node.text}: ask for LeaseHeldError, and change this by hand`),
      )
    const isLockError = ts.isPropertyAccessExpression(node) && node.name.text === 'LockError'
    if (isLockError)
      doubts.push(
        new NotSure(node, 'no lease rejects with a LockError: ask for LeaseHeldError, and change this by hand'),
      )
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
        doubt: new NotSure(
          node,
          'the signal of a lease has its error as signal.reason: change this by hand if a lease gives the signal',
        ),
      })
    ts.forEachChild(node, look)
  }
  look(file)
  return found
}
