import { ConfigLimitError, ConfigResolveError } from './config-error.js'
import type { Limits } from './limits.js'
import { kindOf, numericKeys } from './resolved-value.js'
import type { Origin, Scalar, Space } from './syntax-tree.js'
import { ListValue, type Value } from './value.js'

/** Concatenates strings, lists or objects. Returns `undefined` if no part has a value. */
export function join(parts: readonly (Value | Space | undefined)[], origin: Origin, limits: Limits): Value | undefined {
  const values = parts.filter((part): part is Value => part !== undefined && part.kind !== 'space')
  if (values.every((value) => value.kind === 'scalar')) return joinText(parts, values, origin, limits)
  return values.reduce((left, right) => joinTwo(left, right, origin, limits))
}

function joinText(
  parts: readonly (Value | Space | undefined)[],
  values: readonly Scalar[],
  origin: Origin,
  { maxLength }: Limits,
): Scalar | undefined {
  const texts = parts.flatMap((part) => (part?.kind === 'scalar' || part?.kind === 'space' ? [part.text] : []))
  if (texts.length === 0) return undefined
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length > maxLength) {
    throw new ConfigLimitError(
      `the concatenated string has ${length} characters, more than maxLength (${maxLength})`,
      origin,
    )
  }
  // `+` instead of `join`: engines concatenate lazily, so a chain of appends takes linear time.
  const text = texts.reduce((sum, part) => sum + part, '')
  return { kind: 'scalar', value: text, text, origin, secret: values.some(({ secret }) => secret) }
}

function joinTwo(left: Value, right: Value, origin: Origin, { maxValues }: Limits): Value {
  if (left.kind === 'object' && right.kind === 'object') return left.overriddenBy(right)
  const [one, other] = [asList(left), asList(right)]
  if (one === undefined || other === undefined) {
    throw new ConfigResolveError(
      `${kindOf(left)} and ${kindOf(right)} cannot be concatenated: expected only strings, only lists or only objects`,
      origin,
    )
  }
  if (one.length + other.length > maxValues) {
    throw new ConfigLimitError(`the concatenated list has more values than maxValues (${maxValues})`, origin)
  }
  return one.concat(other)
}

/** Converts an object with numeric keys to a list. Returns `undefined` for all other values except lists. */
function asList(value: Value): ListValue | undefined {
  if (value.kind === 'list') return value
  if (value.kind !== 'object') return undefined
  const keys = numericKeys(value.keys())
  if (keys.length === 0) return undefined
  const items = keys.flatMap((key) => value.get(key)?.value ?? [])
  return new ListValue(items, value.origin)
}
