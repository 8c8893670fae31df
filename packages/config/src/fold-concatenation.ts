import { ConfigSyntaxError } from './errors/config-syntax-error.js'
import { type Concatenation, type Expression, type Scalar, type Space, stringAt } from './syntax-tree.js'

/** What can be put together before any substitution is known; a concatenation that cannot ever fit is an error. */
export function foldConcatenation(concatenation: Concatenation): Expression {
  const { parts, origin } = concatenation
  if (parts.every((part): part is Scalar | Space => part.kind === 'scalar' || part.kind === 'space')) {
    return stringAt(parts.map(({ text }) => text).join(''), origin)
  }
  const values = parts.filter((part): part is Expression => part.kind !== 'space')
  if (values.some(({ kind }) => kind === 'scalar') && values.some(({ kind }) => kind.endsWith('-literal'))) {
    throw new ConfigSyntaxError(
      'an object or a list stands beside a string, a number, a boolean or null: expected values that fit together, ' +
        'or a comma or a newline between them',
      origin,
    )
  }
  if (values.every((value) => value.kind === 'list-literal')) {
    return { kind: 'list-literal', items: values.flatMap(({ items }) => items), origin }
  }
  if (values.every((value) => value.kind === 'object-literal')) {
    return { kind: 'object-literal', statements: values.flatMap(({ statements }) => statements), origin }
  }
  return concatenation
}
