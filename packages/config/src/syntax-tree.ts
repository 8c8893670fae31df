/** The position of a value in a configuration. Lines and columns count from 1; they are 0 if unknown. */
export interface Origin {
  /** The file, or another name of the text. */
  readonly source: string
  readonly line: number
  readonly column: number
}

/** A string, a number, a boolean or null. */
export interface Scalar {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  /** The original spelling. Concatenations use it. */
  readonly text: string
  readonly origin: Origin
  /** Whether the value came from a secret key, directly or by substitution. Secrets are masked in output. */
  readonly secret: boolean
}

/** White space between the values of a concatenation. */
export interface Space {
  readonly kind: 'space'
  readonly text: string
}

export interface ListLiteral {
  readonly kind: 'list'
  readonly items: readonly Expression[]
  readonly origin: Origin
}

export interface ObjectLiteral {
  readonly kind: 'object'
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

/** The right-hand side of `key += element`. */
export interface Append {
  readonly kind: 'append'
  readonly element: Expression
  readonly origin: Origin
}

export type Expression = Scalar | ListLiteral | ObjectLiteral | Reference | Concatenation | Append

/** The assignment of an expression to a key. */
export interface Field {
  readonly kind: 'field'
  readonly path: readonly string[]
  readonly value: Expression
}

/** The documents that replace an include statement. */
export interface Include {
  readonly kind: 'include'
  readonly documents: readonly Document[]
}

export type Statement = Field | Include

/** A parsed text. */
export interface Document {
  /** The file, or another name of the text. */
  readonly source: string
  readonly statements: readonly Statement[]
  /** Whether all its values are secret. */
  readonly secret?: boolean
}

/** A string scalar. The text is not parsed as a number, boolean or null. */
export function stringAt(value: string, origin: Origin): Scalar {
  return { kind: 'scalar', value, text: value, origin, secret: false }
}
