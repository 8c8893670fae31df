import { toCamelCase } from '../settings/key-case.js'

/** A configuration: a parsed file, or any value that can be turned into a plain object. */
export interface ConfigSource {
  toObject(): unknown
  /** Where the value at a path came from; `source` is the path of the file, if it came from one. */
  originOf?(path: string): { readonly source: string; readonly line: number } | undefined
}

/** A block of a configuration, and its path, both as they are written there. */
export interface ConfigBlock {
  readonly path: readonly string[]
  readonly settings: Readonly<Record<string, unknown>>
}

/** How deep the suggestions for a mistyped path look for blocks. */
const DEEPEST = 6

/** The block at a path, whose keys may be in the camel case of the code. */
export function findBlock(config: ConfigSource | object, path: string): ConfigBlock | undefined {
  let value: unknown = isConfigSource(config) ? config.toObject() : config
  const found: string[] = []
  for (const key of path.split('.')) {
    if (!isObject(value)) return undefined
    const entry = Object.entries(value).find(([own]) => own === key || toCamelCase(own) === key)
    if (entry === undefined) return undefined
    found.push(entry[0])
    value = entry[1]
  }
  return isObject(value) ? { path: found, settings: value as ConfigBlock['settings'] } : undefined
}

export function blockPaths(config: ConfigSource | object): readonly string[] {
  const root: unknown = isConfigSource(config) ? config.toObject() : config
  const pathsIn = (block: object, within: readonly string[]): string[] =>
    Object.entries(block).flatMap(([key, value]) => {
      if (!isPlain(value) || within.length === DEEPEST) return []
      const path = [...within, key]
      return [path.join('.'), ...pathsIn(value, path)]
    })
  return isObject(root) ? pathsIn(root, []) : []
}

/** The paths of all values in a setting that is itself a block; for any other setting, only its own key. */
export function pathsOfValues(key: string, value: unknown): readonly (readonly string[])[] {
  const below = (path: readonly string[], value: unknown): (readonly string[])[] => {
    if (!isPlain(value) || path.length === DEEPEST || Object.keys(value).length === 0) return [path]
    return Object.entries(value).flatMap(([next, inner]) => below([...path, next], inner))
  }
  return below([key], value)
}

/** Where a value was given. `source` is a file, an environment variable, or a name of the data. */
export function originOf(
  config: ConfigSource | object,
  path: readonly string[],
): { readonly source: string; readonly line: number } | undefined {
  if (!isConfigSource(config)) return undefined
  return config.originOf?.(path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join('.'))
}

/** The file and the line of a value, or else of the block around it: `application.conf:12`. */
export function placeOf(config: ConfigSource | object, path: readonly string[]): string | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = originOf(config, path.slice(0, length))
    if (origin !== undefined) return originText(origin)
  }
  return undefined
}

/** `application.conf:12`. */
export function originText({ source, line }: { readonly source: string; readonly line: number }): string {
  return line > 0 ? `${source}:${line}` : source
}

function isConfigSource(config: ConfigSource | object): config is ConfigSource {
  return 'toObject' in config && typeof config.toObject === 'function'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Whether a value is an object, but neither a list nor of a class: such an object may contain itself. */
function isPlain(value: unknown): value is object {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
