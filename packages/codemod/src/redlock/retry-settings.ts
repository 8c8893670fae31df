import ts from 'typescript'

/** The settings of redlock that decide for how long a caller waits. `undefined`: not known from the code. */
export interface RetrySettings {
  readonly retryCount: number | undefined
  readonly retryDelay: number | undefined
}

/** The defaults of redlock 4 and 5. */
export const defaultRetries: RetrySettings = { retryCount: 10, retryDelay: 200 }

const names = new Set(['retryCount', 'retryDelay', 'retryJitter', 'driftFactor', 'automaticExtensionThreshold'])

/** The retry settings in an object literal over those of the instance; `undefined` if the literal says more than that. */
export function retrySettingsOf(
  settings: ts.Expression | undefined,
  inherited: RetrySettings,
): RetrySettings | undefined {
  if (settings === undefined) return inherited
  if (!ts.isObjectLiteralExpression(settings)) return undefined
  let { retryCount, retryDelay } = inherited
  for (const property of settings.properties) {
    if (!ts.isPropertyAssignment(property) || !ts.isIdentifier(property.name)) return undefined
    const { text: name } = property.name
    if (!names.has(name)) return undefined
    const value = numberOf(property.initializer)
    if (name === 'retryCount') retryCount = value
    if (name === 'retryDelay') retryDelay = value
  }
  return { retryCount, retryDelay }
}

/**
 * The `wait` that takes the place of the retries, as source text: as long as redlock repeats its request, without the jitter.
 * Empty if redlock tries once; `undefined` if the settings are not known.
 */
export function waitFor({ retryCount, retryDelay }: RetrySettings): string | undefined {
  if (retryCount === 0) return ''
  if (retryCount === -1 || retryCount === Number.POSITIVE_INFINITY) return '{ wait: Infinity }'
  if (retryCount === undefined || retryDelay === undefined || retryCount < 0 || retryDelay < 0) return undefined
  return `{ wait: ${grouped(retryCount * retryDelay)} }`
}

/** The value of a number, or of a product or sum of numbers. */
export function numberOf(expression: ts.Expression): number | undefined {
  if (ts.isParenthesizedExpression(expression)) return numberOf(expression.expression)
  if (ts.isNumericLiteral(expression)) return Number(expression.text)
  if (ts.isIdentifier(expression) && expression.text === 'Infinity') return Number.POSITIVE_INFINITY
  if (ts.isPrefixUnaryExpression(expression) && expression.operator === ts.SyntaxKind.MinusToken) {
    const value = numberOf(expression.operand)
    return value === undefined ? undefined : -value
  }
  if (!ts.isBinaryExpression(expression)) return undefined
  const [left, right] = [numberOf(expression.left), numberOf(expression.right)]
  if (left === undefined || right === undefined) return undefined
  if (expression.operatorToken.kind === ts.SyntaxKind.AsteriskToken) return left * right
  return expression.operatorToken.kind === ts.SyntaxKind.PlusToken ? left + right : undefined
}

function grouped(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, value >= 10_000 ? '_' : '') : String(value)
}
