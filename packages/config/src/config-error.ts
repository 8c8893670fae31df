import type { Origin } from './syntax-tree.js'

/** The stable, machine-readable kind of an error. Each code has one subclass of {@link ConfigError}. */
export type ConfigErrorCode = 'syntax' | 'include' | 'resolve' | 'limit' | 'missing' | 'type' | 'option'

/** The base of every error of this package. The message begins with the file, the line and the column. */
export abstract class ConfigError extends Error {
  abstract override readonly name: string
  abstract readonly code: ConfigErrorCode
  /** The file, or another name of the text. `undefined` if unknown. */
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

/** A text is not valid HOCON (or JSON, or properties). The message names the expected syntax. */
export class ConfigSyntaxError extends ConfigError {
  override readonly name = 'ConfigSyntaxError'
  override readonly code = 'syntax'
}

/** A required include is missing, or an include cannot be read or includes itself. */
export class ConfigIncludeError extends ConfigError {
  override readonly name = 'ConfigIncludeError'
  override readonly code = 'include'
}

/** A substitution has no value or is part of a cycle, or concatenated values have incompatible types. */
export class ConfigResolveError extends ConfigError {
  override readonly name = 'ConfigResolveError'
  override readonly code = 'resolve'
}

/** A configuration exceeds a limit of `ConfigLimits`, such as length, depth or number of values. */
export class ConfigLimitError extends ConfigError {
  override readonly name = 'ConfigLimitError'
  override readonly code = 'limit'
}

/** The path has no value, or the value is null. */
export class ConfigMissingError extends ConfigError {
  override readonly name = 'ConfigMissingError'
  override readonly code = 'missing'
}

/** The value at a path does not have the requested type and cannot be converted to it. */
export class ConfigTypeError extends ConfigError {
  override readonly name = 'ConfigTypeError'
  override readonly code = 'type'
}

/** An option or a path given in code is invalid. */
export class ConfigOptionError extends ConfigError {
  override readonly name = 'ConfigOptionError'
  override readonly code = 'option'
}

function formatOrigin({ source, line, column }: Origin): string {
  return line === 0 ? source : `${source}:${line}:${column}`
}
