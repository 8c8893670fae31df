import type { Origin } from './syntax-tree.js'

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

/** A text is not HOCON (or JSON, or properties): the message says what was expected. */
export class ConfigSyntaxError extends ConfigError {
  override readonly name = 'ConfigSyntaxError'
  override readonly code = 'syntax'
}

/** What is to be included is required and missing, cannot be read, or includes itself. */
export class ConfigIncludeError extends ConfigError {
  override readonly name = 'ConfigIncludeError'
  override readonly code = 'include'
}

/** A substitution has no value or is a link of a cycle, or what is to be concatenated does not fit together. */
export class ConfigResolveError extends ConfigError {
  override readonly name = 'ConfigResolveError'
  override readonly code = 'resolve'
}

/** A text is larger, deeper or expands further than the limits allow: see `ConfigLimits`. */
export class ConfigLimitError extends ConfigError {
  override readonly name = 'ConfigLimitError'
  override readonly code = 'limit'
}

/** There is no value at a path, or it is null. */
export class ConfigMissingError extends ConfigError {
  override readonly name = 'ConfigMissingError'
  override readonly code = 'missing'
}

/** The value at a path is not of the kind that was asked for, and cannot be converted to it. */
export class ConfigTypeError extends ConfigError {
  override readonly name = 'ConfigTypeError'
  override readonly code = 'type'
}

/** An option or a path given in code is no good. */
export class ConfigOptionError extends ConfigError {
  override readonly name = 'ConfigOptionError'
  override readonly code = 'option'
}

function formatOrigin({ source, line, column }: Origin): string {
  return line === 0 ? source : `${source}:${line}:${column}`
}
