import { ConfigLimitError, ConfigOptionError } from './config-error.js'
import type { Limits } from './limits.js'
import { formatPath } from './path-expression.js'
import type { Document, Expression, Field, Origin } from './syntax-tree.js'

/** Makes a document from plain data. Keys are not parsed as paths. `undefined` values are left out. */
export function documentFrom(data: object, source: string, limits: Limits): Document {
  const origin: Origin = { source, line: 0, column: 0 }
  const expressionOf = (value: unknown, path: readonly string[]): Expression => {
    if (path.length > limits.maxDepth) {
      throw new ConfigLimitError(
        `the data is nested deeper than maxDepth (${limits.maxDepth}), or contains itself`,
        origin,
      )
    }
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return { kind: 'scalar', value, text: String(value), origin, secret: false }
    }
    if (Array.isArray(value)) {
      const items = value.map((item: unknown, place) => expressionOf(item, [...path, String(place)]))
      return { kind: 'list', items, origin }
    }
    if (isPlainObject(value)) return { kind: 'object', statements: fieldsOf(value, path), origin }
    throw new ConfigOptionError(
      `${formatPath(path)} is ${typeof value === 'object' ? 'an object of a class' : `a ${typeof value}`}: a configuration ` +
        'holds strings, numbers, booleans, null, arrays and plain objects',
      origin,
    )
  }
  const fieldsOf = (record: object, path: readonly string[]): Field[] =>
    Object.entries(record).flatMap(([key, value]: [string, unknown]): Field[] => {
      if (value === undefined) return []
      return [{ kind: 'field', path: [key], value: expressionOf(value, [...path, key]) }]
    })
  if (!isPlainObject(data)) throw new ConfigOptionError('a configuration in code must be a plain object')
  return { source, statements: fieldsOf(data, []) }
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
