import { ConfigLimitError, ConfigResolveError } from './config-error.js'
import type { Limits } from './limits.js'
import { numericKeys } from './resolved-value.js'
import type { Origin, Scalar, Space } from './syntax-tree.js'
import { ListValue, type Value } from './value.js'

interface Joining {
  readonly origin: Origin
  readonly limits: Limits
}

/** Values side by side: a string of strings, a list of lists, an object of objects. `undefined`: has no value. */
export function join(parts: readonly (Value | Space | undefined)[], joining: Joining): Value | undefined {
  const values = parts.filter((part): part is Value => part !== undefined && part.kind !== 'space')
  if (values.every((value) => value.kind === 'scalar')) return joinText(parts, values, joining)
  return values.reduce((left, right) => joinTwo(left, right, joining))
}

function joinText(
  parts: readonly (Value | Space | undefined)[],
  values: readonly Scalar[],
  { origin, limits }: Joining,
): Scalar | undefined {
  const texts = parts.flatMap((part) => (part?.kind === 'scalar' || part?.kind === 'space' ? [part.text] : []))
  if (texts.length === 0) return undefined
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length > limits.maxLength) {
    throw new ConfigLimitError(`a string of ${length} characters, and maxLength is ${limits.maxLength}`, origin)
  }
  // Added up, not joined: engines keep sums as they are until they are read, and a chain of sums costs its length.
  const text = texts.reduce((sum, part) => sum + part, '')
  return { kind: 'scalar', value: text, text, origin, secret: values.some(({ secret }) => secret) }
}

function joinTwo(left: Value, right: Value, joining: Joining): Value {
  if (left.kind === 'object' && right.kind === 'object') return left.overriddenBy(right)
  const [one, other] = [asList(left), asList(right)]
  if (one === undefined || other === undefined) {
    throw new ConfigResolveError(
      `${describe(left)} and ${describe(right)} stand side by side: expected strings, lists or objects alone`,
      joining.origin,
    )
  }
  const { maxValues } = joining.limits
  if (one.length + other.length > maxValues) {
    throw new ConfigLimitError(`a list of more values than maxValues, ${maxValues}, allows`, joining.origin)
  }
  return one.concat(other)
}

/** A list, or an object that can be taken for one where a list is needed. */
function asList(value: Value): ListValue | undefined {
  if (value.kind === 'list') return value
  if (value.kind !== 'object') return undefined
  const keys = numericKeys(value.keys())
  if (keys.length === 0) return undefined
  const items = keys.flatMap((key) => {
    const entry = value.get(key)
    return entry === undefined ? [] : [{ value: entry.value }]
  })
  return new ListValue(items, value.origin, value.secret)
}

function describe(value: Value): string {
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'object') return 'an object'
  return value.value === null ? 'null' : `a ${typeof value.value}`
}
