import ts from 'typescript'
import type { MethodCall } from './instances.js'
import { NotSure } from './not-sure.js'

/**
 * The statement that listens for errors of redlock. It can go if it only logs: a lease reports its failures to its caller, and
 * to the logger. Throws a `NotSure` if it does more.
 */
export function errorListener({ call, method }: MethodCall): ts.ExpressionStatement {
  const [event, listener] = call.arguments
  const statement = call.parent
  const isListener =
    /^(on|once|addListener)$/.test(method) &&
    event !== undefined &&
    ts.isStringLiteralLike(event) &&
    /^(error|clientError)$/.test(event.text) &&
    call.arguments.length === 2
  if (!isListener || listener === undefined || !ts.isExpressionStatement(statement))
    throw new NotSure(call, `a lease store has no ${method}: change this by hand`)
  if (!onlyLogs(listener))
    throw new NotSure(
      call,
      'this listener does more than log: a lease reports failures to its caller, so move this there, delete the listener, and run this again',
    )
  return statement
}

function onlyLogs(listener: ts.Expression): boolean {
  if (!ts.isArrowFunction(listener) && !ts.isFunctionExpression(listener)) return isLog(listener)
  let does = false
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && !isLog(node.expression)) does = true
    if (ts.isNewExpression(node) || ts.isAwaitExpression(node) || ts.isThrowStatement(node)) does = true
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) does = true
    if (ts.isPostfixUnaryExpression(node) || ts.isDeleteExpression(node)) does = true
    if (ts.isPrefixUnaryExpression(node) && node.operator !== ts.SyntaxKind.ExclamationToken) does = true
    ts.forEachChild(node, look)
  }
  look(listener.body)
  return !does
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment
}

function isLog(callee: ts.Expression): boolean {
  return /(^|\.)(console|log|logger|debug|winston)\.\w+$|\.(error|warn|info|debug|log|trace|verbose)$|^debug$/i.test(
    callee.getText(),
  )
}
