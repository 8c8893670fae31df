import { formatOrigin, type Origin } from '../origin.js'

/** The stable, machine-readable name of a kind of failure. One leaf of {@link ConfigError} a code. */
export type ConfigErrorCode = 'syntax' | 'include' | 'resolve' | 'limit' | 'missing' | 'type' | 'option'

/** The base of every error of this package; the message begins with the file, the line and the column. */
export abstract class ConfigError extends Error {
  abstract override readonly name: string
  abstract readonly code: ConfigErrorCode
  /** What the text came from, where it is known. */
  readonly source: string | undefined
  /** Counts from 1. */
  readonly line: number | undefined
  /** Counts from 1. */
  readonly column: number | undefined

  constructor(message: string, origin?: Origin, cause?: unknown) {
    super(origin === undefined ? message : `${formatOrigin(origin)}: ${message}`, cause === undefined ? {} : { cause })
    this.source = origin?.source
    this.line = origin?.line || undefined
    this.column = origin?.column || undefined
  }
}
