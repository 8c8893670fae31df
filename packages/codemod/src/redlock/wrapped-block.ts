import ts from 'typescript'
import { isWithin } from './change.js'

/**
 * Whether the block of a `try` can become a function without a change of meaning: `plain` if it never leaves the function
 * around it, `returns` if it is the end of that function, so that its value can be returned. `undefined`: it cannot.
 */
export function canBeWrapped(statement: ts.TryStatement): 'plain' | 'returns' | undefined {
  if (readsNarrowed(statement)) return undefined
  const exits = exitsOf(statement.tryBlock)
  if (exits === undefined) return undefined
  if (exits === 0) return 'plain'
  return isLastOfFunction(statement) ? 'returns' : undefined
}

/** The number of `return` statements; `undefined` if something else cannot be moved into a function. */
function exitsOf(block: ts.Block): number | undefined {
  let returns = 0
  let isMovable = true
  const look = (node: ts.Node, isOwn: boolean): void => {
    if (isOwn && ts.isReturnStatement(node)) returns += 1
    if (isOwn && (ts.isYieldExpression(node) || hasOuterTarget(node, block))) isMovable = false
    if (isOwn && ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.BlockScoped) === 0) isMovable = false
    if (ts.isIdentifier(node) && isChangeable(node, block)) isMovable = false
    ts.forEachChild(node, (child) => look(child, isOwn && !ts.isFunctionLike(node)))
  }
  look(block, true)
  return isMovable ? returns : undefined
}

/** Whether a `break` or `continue` ends something around the block. */
function hasOuterTarget(node: ts.Node, block: ts.Block): boolean {
  if (!ts.isBreakStatement(node) && !ts.isContinueStatement(node)) return false
  for (let around: ts.Node = node.parent; around !== block; around = around.parent) {
    const isLoop = ts.isIterationStatement(around, false)
    if (node.label !== undefined) {
      if (ts.isLabeledStatement(around) && around.label.text === node.label.text) return false
    } else if (isLoop || (ts.isBreakStatement(node) && ts.isSwitchStatement(around))) return false
  }
  return true
}

/**
 * Whether a name may be a variable outside of the block that is assigned to: within a function, TypeScript no longer knows
 * its narrowed type, and code after the block would see it as unassigned.
 */
function isChangeable(name: ts.Identifier, block: ts.Block): boolean {
  for (let scope: ts.Node = block.parent; scope !== undefined; scope = scope.parent) {
    if (ts.isFunctionLike(scope) && scope.parameters.some((parameter) => isAssigned(parameter, name, scope)))
      return true
    const statements = ts.isBlock(scope) || ts.isSourceFile(scope) ? scope.statements : []
    for (const statement of statements) {
      if (!ts.isVariableStatement(statement) || isWithin(block, statement)) continue
      const { flags, declarations } = statement.declarationList
      const isConstant = (flags & ts.NodeFlags.Const) !== 0
      if (!isConstant && declarations.some((declaration) => declaration.name.getText() === name.text)) return true
    }
  }
  return false
}

function isAssigned(parameter: ts.ParameterDeclaration, name: ts.Identifier, scope: ts.Node): boolean {
  if (!ts.isIdentifier(parameter.name)) return false
  if (parameter.name.text !== name.text) return false
  return new RegExp(`\\b${name.text.replaceAll('$', '\\$')}\\s*([-+*/%&|^?]*=(?!=|>)|\\+\\+|--)`).test(scope.getText())
}

function isLastOfFunction(statement: ts.TryStatement): boolean {
  const body = statement.parent
  if (!ts.isBlock(body) || !ts.isFunctionLike(body.parent)) return false
  const isGenerator = 'asteriskToken' in body.parent && body.parent.asteriskToken !== undefined
  return !isGenerator && body.statements.at(-1) === statement
}

/** Whether the block reads a property that code before it has checked or set: a function does not know the narrowed type. */
function readsNarrowed(statement: ts.TryStatement): boolean {
  const narrowed = new Set<string>()
  const note = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) narrowed.add(node.getText())
    ts.forEachChild(node, note)
  }
  const scope = ts.findAncestor(statement, ts.isFunctionLike) ?? statement.getSourceFile()
  const lookBefore = (node: ts.Node): void => {
    if (node === statement) return
    if (ts.isIfStatement(node) || ts.isWhileStatement(node)) note(node.expression)
    if (ts.isConditionalExpression(node)) note(node.condition)
    if (ts.isSwitchStatement(node) || ts.isNonNullExpression(node)) note(node.expression)
    if (ts.isBinaryExpression(node)) note(node.left)
    ts.forEachChild(node, lookBefore)
  }
  lookBefore(scope)
  let reads = false
  const look = (node: ts.Node): void => {
    if (narrowed.has(node.getText())) reads = true
    ts.forEachChild(node, look)
  }
  look(statement.tryBlock)
  return reads
}
