import { ConfigError, ConfigMissingError, ConfigTypeError } from './config-error.js'
import { environmentOverrides } from './environment-overrides.js'
import { Evaluation } from './evaluation.js'
import { documentFrom } from './from-object.js'
import { type ConfigLimits, type Limits, limitsOf, withinStack } from './limits.js'
import { checkOptionNames } from './option-names.js'
import { formatPath, parsePath } from './path-expression.js'
import { describeValue, itemsOf, type ResolvedObject, type ResolvedValue, toPlain } from './resolved-value.js'
import { type Environment, Resolver } from './resolver.js'
import { isSecretPath } from './secrets.js'
import type { Document, Origin, Scalar } from './syntax-tree.js'
import { toBytes, toMilliseconds } from './units.js'
import { numberOf } from './unquoted-value.js'

/** Options of {@link Config.from}. */
export interface ConfigFromOptions {
  /** The name of the data in errors. Default: `object`. */
  readonly source?: string | undefined
  readonly limits?: ConfigLimits | undefined
}

/** @internal The parts of a configuration. */
export interface ConfigParts {
  /** In merge order: the last document wins. */
  readonly documents: readonly Document[]
  readonly limits: Limits
  readonly env: Environment
  /** The path of this configuration within the configuration that `getConfig` was called on. */
  readonly path: readonly string[]
}

const trueValues: readonly unknown[] = [true, 'true', 'yes', 'on']
const falseValues: readonly unknown[] = [false, 'false', 'no', 'off']

/**
 * An immutable configuration. Getters read values by path (`a.b."c.d"`) and convert them by the rules of HOCON.
 * Substitutions are resolved at the first read, over all layers together.
 *
 * Getters throw a `ConfigMissingError` if the value is missing or null, and a `ConfigTypeError` if it has another type.
 * Both errors name the path, the origin and the expected type, and contain no secret. The first read throws a
 * `ConfigResolveError` if a substitution has no value. `toString`, `JSON.stringify` and `console.log` mask secrets.
 */
export class Config {
  readonly #parts: ConfigParts
  #resolved: ResolvedObject | undefined

  /** @internal */
  constructor(parts: ConfigParts) {
    this.#parts = parts
  }

  /** Makes a configuration from plain data. Keys are not parsed as paths. */
  static from(data: object, options: ConfigFromOptions = {}): Config {
    checkOptionNames<ConfigFromOptions>('Config.from', options, { source: true, limits: true })
    const { source = 'object', limits } = options
    const all = limitsOf(limits)
    return new Config({ documents: [documentFrom(data, source, all)], limits: all, env: {}, path: [] })
  }

  /**
   * Makes a configuration from environment variables: `LEASEHOLD_LEASE_MAX__HOLD` sets `leasehold.lease.max-hold`, and
   * `CONFIG_FORCE_jobs_max__hold` sets `jobs.max-hold`. All values are strings. `loadConfig` has them as its uppermost layer.
   */
  static fromEnvironment(env: Environment = process.env): Config {
    return new Config({ documents: [environmentOverrides(env)], limits: limitsOf(undefined), env: {}, path: [] })
  }

  /** Whether the path has a value other than null. */
  has(path: string): boolean {
    const value = this.#find(parsePath(path))
    return value !== undefined && !(value.kind === 'scalar' && value.value === null)
  }

  /** Returns a string. A number or a boolean is returned as spelled in the text. */
  getString(path: string): string {
    return this.#scalar(path, 'a string', ({ value, text }) => (typeof value === 'string' ? value : text))
  }

  /** Returns a number. Also accepts a string that is a JSON number. */
  getNumber(path: string): number {
    return this.#scalar(path, 'a number', ({ value }) => {
      if (typeof value === 'string') return numberOf(value)
      return typeof value === 'number' ? value : undefined
    })
  }

  /** Returns a boolean. Also accepts the strings `true`, `yes`, `on`, `false`, `no` and `off`. */
  getBoolean(path: string): boolean {
    return this.#scalar(path, 'true or false', ({ value }) => {
      if (trueValues.includes(value)) return true
      return falseValues.includes(value) ? false : undefined
    })
  }

  /** Returns a duration in milliseconds. Strings may have a unit (`ns us ms s m h d`, or its long name). */
  getDuration(path: string): number {
    return this.#scalar(path, 'a duration such as 12s or 500 ms', ({ value }) => toMilliseconds(value))
  }

  /** Returns a size in bytes, rounded down. Strings may have a unit (`512K`, `10 MB`, `1GiB`). */
  getBytes(path: string): number {
    return this.#scalar(path, 'a size such as 512K or 10 MB', ({ value }) => toBytes(value))
  }

  /** Returns a list as plain data. Also accepts an object with numeric keys. */
  getList(path: string): unknown[] {
    return this.#get(path, 'a list', (value) => itemsOf(value)?.map((item) => toPlain(item)))
  }

  /** Returns the object at the path as a separate configuration. */
  getConfig(path: string): Config {
    return this.#get(path, 'an object', (value, whole) => {
      if (value.kind !== 'object') return undefined
      const { origin, statements } = value
      const document = { source: origin.source, statements, secret: isSecretPath(whole) }
      return new Config({ ...this.#parts, documents: [document], path: whole })
    })
  }

  /** Returns the position of the value at the path. `undefined` if there is no value. */
  originOf(path: string): Origin | undefined {
    return this.#find(parsePath(path))?.origin
  }

  /**
   * Merges this configuration over `fallback`. Objects are merged by key. Any other value replaces the value of the
   * fallback. Substitutions in either configuration can refer to both.
   */
  withFallback(fallback: Config | object): Config {
    const { documents, limits, env, path } = this.#parts
    const below = fallback instanceof Config ? fallback.#parts : Config.from(fallback, { limits }).#parts
    return new Config({ documents: [...below.documents, ...documents], limits, env: { ...below.env, ...env }, path })
  }

  /** Resolves all substitutions now and returns this. Throws a `ConfigResolveError` if a substitution has no value. */
  resolve(): this {
    this.#root()
    return this
  }

  /** Returns the whole configuration as plain data, including secrets. */
  toObject(): Record<string, unknown> {
    return toPlain(this.#root()) as Record<string, unknown>
  }

  /** Returns the whole configuration as JSON text, with secrets masked. */
  toString(): string {
    return JSON.stringify(this.toJSON(), undefined, 2)
  }

  /** For `JSON.stringify`: returns plain data with secrets masked. */
  toJSON(): unknown {
    return toPlain(this.#root(), true)
  }

  /** For Node's `console.log`: masks secrets. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    try {
      return `Config ${this.toString()}`
    } catch (error) {
      if (error instanceof ConfigError) return `Config (${error.message})`
      throw error
    }
  }

  #root(): ResolvedObject {
    const { documents, limits, env } = this.#parts
    this.#resolved ??= withinStack('the configuration', undefined, () =>
      new Evaluation(new Resolver(documents, limits, env), limits).root(),
    )
    return this.#resolved
  }

  #find(path: readonly string[]): ResolvedValue | undefined {
    let value: ResolvedValue | undefined = this.#root()
    for (const key of path) value = value?.kind === 'object' ? value.fields.get(key) : undefined
    return value
  }

  #scalar<T>(path: string, expected: string, convert: (value: Scalar) => T | undefined): T {
    return this.#get(path, expected, (value) => (value.kind === 'scalar' ? convert(value) : undefined))
  }

  /** `convert`: takes the value and its whole path. Returns `undefined` if the value has another type. */
  #get<T>(
    path: string,
    expected: string,
    convert: (value: ResolvedValue, whole: readonly string[]) => T | undefined,
  ): T {
    const elements = parsePath(path)
    const value = this.#find(elements)
    const whole = [...this.#parts.path, ...elements]
    const shown = formatPath(whole)
    if (value === undefined) {
      const sources = [...new Set(this.#parts.documents.map(({ source }) => source))].reverse().join(', ')
      throw new ConfigMissingError(`'${shown}' has no value: expected ${expected} in ${sources || 'the configuration'}`)
    }
    if (value.kind === 'scalar' && value.value === null) {
      throw new ConfigMissingError(`'${shown}' is null: expected ${expected}`, value.origin)
    }
    const converted = convert(value, whole)
    if (converted !== undefined) return converted
    const found = describeValue(value, isSecretPath(whole))
    throw new ConfigTypeError(`'${shown}' is ${found}: expected ${expected}`, value.origin)
  }
}
