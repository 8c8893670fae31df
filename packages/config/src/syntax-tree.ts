/** The position of a value in a configuration. Lines and columns count from 1; they are 0 if unknown. */
export interface Origin {
  /** The file, or another name of the text. */
  readonly source: string
  readonly line: number
  readonly column: number
}

/** A string, a number, a boolean or null as it was written. */
export interface Scalar {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  /** As it is spelled in the text, which concatenations keep. */
  readonly text: string
  readonly origin: Origin
  /** Whether it came from, or through, a key that holds a secret: not to be shown. */
  readonly secret: boolean
}

/** White space between the values of a concatenation. */
export interface Space {
  readonly kind: 'space'
  readonly text: string
}

export interface ListLiteral {
  readonly kind: 'list-literal'
  readonly items: readonly Expression[]
  readonly origin: Origin
}

export interface ObjectLiteral {
  readonly kind: 'object-literal'
  readonly statements: readonly Statement[]
  readonly origin: Origin
}

/** `${path}` or `${?path}`. */
export interface Reference {
  readonly kind: 'reference'
  readonly path: readonly string[]
  readonly optional: boolean
  readonly origin: Origin
}

export interface Concatenation {
  readonly kind: 'concatenation'
  readonly parts: readonly (Expression | Space)[]
  readonly origin: Origin
}

/** What may stand to the right of a key. */
export type Expression = Scalar | ListLiteral | ObjectLiteral | Reference | Concatenation

/** `path = value`, or `path += value`. */
export interface Field {
  readonly kind: 'field'
  readonly path: readonly string[]
  readonly append: boolean
  readonly value: Expression
}

/** The documents that stand in the place of an include statement. */
export interface Include {
  readonly kind: 'include'
  readonly documents: readonly Document[]
}

export type Statement = Field | Include

/** A text that was parsed. */
export interface Document {
  /** What the text came from. */
  readonly source: string
  readonly statements: readonly Statement[]
}

/** A string that is not typed further. */
export function stringAt(value: string, origin: Origin): Scalar {
  return { kind: 'scalar', value, text: value, origin, secret: false }
}
