import Redlock from 'redlock'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { defaultRetries, retrySettingsOf, waitFor } from '../src/redlock/retry-settings.js'

/** The `wait` for an object literal of settings, over the defaults of redlock. */
function waitOf(settings: string): string | undefined {
  const file = ts.createSourceFile('code.ts', `(${settings})`, ts.ScriptTarget.Latest, true)
  const { expression } = file.statements[0] as ts.ExpressionStatement
  const retries = retrySettingsOf((expression as ts.ParenthesizedExpression).expression, defaultRetries)
  return retries === undefined ? undefined : waitFor(retries)
}

test('the defaults are those of redlock', () => {
  const { settings } = new Redlock([{}])
  expect(settings).toMatchObject(defaultRetries)
})

test.each([
  ['{}', '{ wait: 2000 }'],
  ['{ retryCount: 3 }', '{ wait: 600 }'],
  ['{ retryDelay: 2 * 1000 }', '{ wait: 20_000 }'],
  ['{ retryCount: 0, retryJitter: 50 }', ''],
  ['{ retryCount: -1 }', '{ wait: Infinity }'],
  ['{ driftFactor: 0.02, automaticExtensionThreshold: 500 }', '{ wait: 2000 }'],
  ['{ retryCount: 1, retryDelay: 1_234_567 }', '{ wait: 1_234_567 }'],
  ['{ retryCount: count }', undefined],
  ['{ retryCount: -2 }', undefined],
  ['{ ...settings }', undefined],
  ['{ retryCount }', undefined],
  ['{ retries: 3 }', undefined],
  ['settings', undefined],
])('%s', (settings, wait) => {
  expect(waitOf(settings)).toBe(wait)
})
