import ts from 'typescript'
import type { ImportedName } from './change.js'
import { NotSure } from './not-sure.js'
import { numberOf } from './retry-settings.js'

/** The shortest and the longest ttl of a lease on Redis, in milliseconds. */
const MIN_TTL = 100
const MAX_TTL = 366 * 24 * 60 * 60_000

/** Source text that makes a lease. */
export interface LeaseText {
  readonly text: string
  readonly imports: readonly ImportedName[]
}

/** The lease in the place of a lock on these resources. Throws a `NotSure`. */
export function leaseText(receiver: ts.Expression, resources: ts.Expression, duration: ts.Expression): LeaseText {
  const ttl = ttlText(duration)
  const store = receiver.getText()
  const lease = (name: string): string => `createLease(${store}, ${name}, { heartbeatTimeout: ${ttl} })`
  const elements = elementsOf(resources)
  const [first] = elements
  if (first !== undefined && elements.length === 1) return { text: lease(nameText(first)), imports: ['createLease'] }
  if (!isPlain(duration))
    throw new NotSure(
      duration,
      'the duration is computed here, and would be computed for each lease: give it a name first',
    )
  const name = ['name', 'resource', 'leaseName'].find((word) => !new RegExp(`\\b${word}\\b`).test(`${store} ${ttl}`))
  if (name === undefined) throw new NotSure(duration, 'no name is free for the resources: change this by hand')
  const names = elements.map(nameText)
  const distinct = new Set(names).size === names.length && elements.every(ts.isStringLiteralLike)
  const list = distinct ? `[${names.join(', ')}]` : `[...new Set([${names.join(', ')}])]`
  // Two leases on one name would wait for each other: AllOf refuses them.
  return { text: `new AllOf(${list}.map((${name}) => ${lease(name)}))`, imports: ['createLease', 'AllOf'] }
}

function elementsOf(resources: ts.Expression): readonly ts.Expression[] {
  if (ts.isStringLiteralLike(resources) || ts.isTemplateExpression(resources)) return [resources]
  if (!ts.isArrayLiteralExpression(resources))
    throw new NotSure(
      resources,
      'the resources are not listed here: write them as an array in this call, and run this again',
    )
  const { elements } = resources
  if (elements.length === 0) throw new NotSure(resources, 'there is no resource: a lease needs a name')
  if (elements.some((element) => ts.isSpreadElement(element) || ts.isOmittedExpression(element)))
    throw new NotSure(
      resources,
      'the number of resources is not certain: use AllOf of @leasehold/recipes, with each name once',
    )
  return elements
}

/** Redis takes any key. The name of a lease is a text, which only TypeScript makes sure of. */
function nameText(element: ts.Expression): string {
  const text = element.getText()
  const isTyped = /\.[cm]?tsx?$/.test(element.getSourceFile().fileName)
  return isTyped || isText(element) ? text : `String(${text})`
}

function isText(expression: ts.Expression): boolean {
  if (ts.isStringLiteralLike(expression) || ts.isTemplateExpression(expression)) return true
  if (!ts.isBinaryExpression(expression) || expression.operatorToken.kind !== ts.SyntaxKind.PlusToken) return false
  return isText(expression.left) || isText(expression.right)
}

function ttlText(duration: ts.Expression): string {
  const value = numberOf(duration)
  if (value !== undefined && !(value >= MIN_TTL && value <= MAX_TTL))
    throw new NotSure(duration, 'the ttl of a lease is 100 ms to 366 days: choose a heartbeatTimeout for this one')
  let hasPause = false
  const look = (node: ts.Node): void => {
    if (ts.isAwaitExpression(node) || ts.isYieldExpression(node)) hasPause = true
    else ts.forEachChild(node, look)
  }
  look(duration)
  if (hasPause) throw new NotSure(duration, 'the duration is awaited here: give it a name first')
  return duration.getText()
}

/** Whether it does not matter how often the expression is evaluated. */
function isPlain(expression: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(expression)) return isPlain(expression.expression)
  if (ts.isBinaryExpression(expression)) return isPlain(expression.left) && isPlain(expression.right)
  if (ts.isPropertyAccessExpression(expression)) return isPlain(expression.expression)
  return ts.isIdentifier(expression) || ts.isNumericLiteral(expression) || expression.kind === ts.SyntaxKind.ThisKeyword
}
