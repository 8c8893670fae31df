import { Assembly } from './assembly.js'
import { ConfigError, ConfigLimitError, ConfigMissingError, ConfigTypeError } from './config-error.js'
import { Evaluation } from './evaluation.js'
import { documentFrom, documentOfResolved } from './from-object.js'
import { type ConfigLimits, isStackOverflow, type Limits, limitsOf } from './limits.js'
import { formatPath, parsePath } from './path-expression.js'
import {
  describeValue,
  numericKeys,
  type ResolvedObject,
  type ResolvedValue,
  toPlain,
  withoutSecrets,
} from './resolved-value.js'
import { type Environment, Resolver } from './resolver.js'
import { isSecretPath } from './secrets.js'
import type { Document, Origin } from './syntax-tree.js'
import { toBytes, toMilliseconds } from './units.js'
import { numberOf } from './unquoted-value.js'

/** What a {@link Config} of plain data is made with. */
export interface ConfigFromOptions {
  /** What errors say the values came from; `object` unless given. */
  readonly source?: string | undefined
  readonly limits?: ConfigLimits | undefined
}

/** @internal What configurations are made of. */
export interface ConfigParts {
  /** The last wins. */
  readonly documents: readonly Document[]
  readonly limits: Limits
  readonly env: Environment
  /** Where this configuration stood in the one that it was taken from. */
  readonly path: readonly string[]
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['no', false],
  ['off', false],
])

/**
 * A configuration: an object whose values are asked for by path (`a.b."c.d"`), with the conversions of HOCON and no
 * others. Immutable. Substitutions are replaced when a value is first asked for, over all layers together.
 *
 * Getters throw a `ConfigMissingError` where there is no value or it is null, a `ConfigTypeError` where it is of another
 * kind; both name the path, the value's origin and what was expected, and no secret. The first use throws a
 * `ConfigResolveError` where a substitution has no value. Showing a configuration shows no secrets either.
 */
export class Config {
  readonly #parts: ConfigParts
  #resolved: ResolvedObject | undefined

  /** @internal */
  constructor(parts: ConfigParts) {
    this.#parts = parts
  }

  /** The configuration that plain data is; keys are taken as they stand, and are no paths. */
  static from(data: object, { source = 'object', limits }: ConfigFromOptions = {}): Config {
    const all = limitsOf(limits)
    return new Config({ documents: [documentFrom(data, source, all)], limits: all, env: {}, path: [] })
  }

  /** Whether there is a value at the path, and it is not null. */
  has(path: string): boolean {
    const value = this.#find(parsePath(path))
    return value !== undefined && !(value.kind === 'scalar' && value.value === null)
  }

  /** A string; a number or a boolean as it is spelled. */
  getString(path: string): string {
    return this.#scalar(path, 'a string', ({ value, text }) => (typeof value === 'string' ? value : text))
  }

  /** A number, or a string that is one by the rules of JSON. */
  getNumber(path: string): number {
    return this.#scalar(path, 'a number', ({ value }) => {
      if (typeof value === 'string') return numberOf(value)
      return typeof value === 'number' ? value : undefined
    })
  }

  /** A boolean, or one of the strings `true`, `yes`, `on`, `false`, `no`, `off`. */
  getBoolean(path: string): boolean {
    return this.#scalar(path, 'true or false', ({ value }) =>
      typeof value === 'boolean' ? value : booleans.get(String(value)),
    )
  }

  /** A duration in milliseconds: a number of them, or a string with a unit (`ns us ms s m h d` and their long names). */
  getDuration(path: string): number {
    return this.#scalar(path, 'a duration such as 12s or 500 ms', ({ value }) => toMilliseconds(value))
  }

  /** A size in bytes, rounded down: a number of them, or a string with a unit (`512K`, `10 MB`, `1GiB`). */
  getBytes(path: string): number {
    return this.#scalar(path, 'a size such as 512K or 10 MB', ({ value }) => toBytes(value))
  }

  /** A list as plain data; an object whose keys are numbers counts as one. */
  getList(path: string): unknown[] {
    const value = this.#get(path, 'a list')
    if (value.kind === 'list') return value.items.map((item) => toPlain(item))
    const keys = value.kind === 'object' ? numericKeys(value.fields.keys()) : []
    if (value.kind !== 'object' || keys.length === 0) throw this.#typeError(path, 'a list', value)
    return keys.flatMap((key) => {
      const item = value.fields.get(key)
      return item === undefined ? [] : [toPlain(item)]
    })
  }

  /** The object at the path as a configuration of its own. */
  getConfig(path: string): Config {
    const value = this.#get(path, 'an object')
    if (value.kind !== 'object') throw this.#typeError(path, 'an object', value)
    const { limits, env } = this.#parts
    const whole = [...this.#parts.path, ...parsePath(path)]
    return new Config({ documents: [documentOfResolved(value, isSecretPath(whole))], limits, env, path: whole })
  }

  /** Where the value at the path came from, `undefined` where there is none. */
  originOf(path: string): Origin | undefined {
    return this.#find(parsePath(path))?.origin
  }

  /**
   * This configuration, with what it does not have taken from another. Objects are merged; a value that is no object
   * hides what is below it. Substitutions of either see both.
   */
  withFallback(fallback: Config | object): Config {
    const { documents, limits, env, path } = this.#parts
    const below = fallback instanceof Config ? fallback.#parts : Config.from(fallback, { limits }).#parts
    return new Config({ documents: [...below.documents, ...documents], limits, env: { ...below.env, ...env }, path })
  }

  /** Replaces all substitutions now, and returns this; throws a `ConfigResolveError` where one has no value. */
  resolve(): this {
    this.#root()
    return this
  }

  /** All of it as plain data, secrets too. */
  toObject(): Record<string, unknown> {
    return toPlain(this.#root()) as Record<string, unknown>
  }

  /** All of it as text, JSON, without secrets. */
  toString(): string {
    return JSON.stringify(this.toJSON(), undefined, 2)
  }

  /** For `JSON.stringify`: as data, without secrets. */
  toJSON(): unknown {
    return withoutSecrets(this.#root())
  }

  /** For Node's `console.log`: without secrets. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    try {
      return `Config ${this.toString()}`
    } catch (error) {
      if (error instanceof ConfigError) return `Config (${error.message})`
      throw error
    }
  }

  #root(): ResolvedObject {
    this.#resolved ??= resolveParts(this.#parts)
    return this.#resolved
  }

  #find(path: readonly string[]): ResolvedValue | undefined {
    let value: ResolvedValue | undefined = this.#root()
    for (const key of path) value = value?.kind === 'object' ? value.fields.get(key) : undefined
    return value
  }

  #get(path: string, expected: string): ResolvedValue {
    const elements = parsePath(path)
    const value = this.#find(elements)
    const shown = formatPath([...this.#parts.path, ...elements])
    if (value === undefined) {
      const sources = [...new Set(this.#parts.documents.map(({ source }) => source))].reverse().join(', ')
      throw new ConfigMissingError(`'${shown}' has no value: expected ${expected} in ${sources || 'the configuration'}`)
    }
    if (value.kind === 'scalar' && value.value === null) {
      throw new ConfigMissingError(`'${shown}' is null: expected ${expected}`, value.origin)
    }
    return value
  }

  #scalar<T>(path: string, expected: string, convert: (value: ResolvedValue & { kind: 'scalar' }) => T | undefined): T {
    const value = this.#get(path, expected)
    const converted = value.kind === 'scalar' ? convert(value) : undefined
    if (converted === undefined) throw this.#typeError(path, expected, value)
    return converted
  }

  #typeError(path: string, expected: string, value: ResolvedValue): ConfigTypeError {
    const whole = [...this.#parts.path, ...parsePath(path)]
    const found = describeValue(value, isSecretPath(whole))
    return new ConfigTypeError(`'${formatPath(whole)}' is ${found}: expected ${expected}`, value.origin)
  }
}

function resolveParts({ documents, limits, env }: ConfigParts): ResolvedObject {
  const assembly = new Assembly(limits)
  try {
    const resolver = new Resolver(assembly.root(documents), { assembly, limits, env })
    return new Evaluation(resolver, limits).root()
  } catch (error) {
    if (!isStackOverflow(error)) throw error
    throw new ConfigLimitError('nested too deep for the stack of this thread')
  }
}
