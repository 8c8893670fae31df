import { ownNameFor, sameWord, suggestionFor } from '../errors/suggestion.js'
import { toCamelCase, toKebabCase } from '../settings/key-case.js'
import { type ConfigBlock, type ConfigSource, findBlock, originOf, pathsOfValues } from './config-source.js'
import { DEFAULT_PATH, engineKeys, settingKeys } from './lease-block.js'

/** A key that nothing reads. */
export interface UnknownKey {
  readonly path: readonly string[]
  readonly warning: string
}

/** The block that all blocks of this library are in. */
const [ROOT = ''] = DEFAULT_PATH.split('.')

/**
 * The keys that nothing reads, each with the key that was probably meant:
 *
 * - in the block at the path, all of them. If a factory does not declare its keys (`optionKeys`), only those that look like
 *   misspelled keys of the engine. `others` are read by code beside the factory;
 * - in `leasehold.lease`, and beside it, those that look like misspelled keys: other leases may read the others.
 */
export function unknownKeys(
  config: ConfigSource | object,
  path: string,
  optionKeys: readonly string[] | undefined,
  others: readonly string[],
): readonly UnknownKey[] {
  const own = findBlock(config, path)
  const fallback = path === DEFAULT_PATH ? undefined : findBlock(config, DEFAULT_PATH)
  const options = [...(Array.isArray(optionKeys) ? (optionKeys as readonly string[]) : []), ...others]
  const known = [...engineKeys, ...options]
  const isDeclared = optionKeys !== undefined
  return [
    ...unknownIn(config, own, { known, isDeclared, options: isDeclared ? options : undefined }),
    ...unknownIn(config, fallback, { known, isDeclared, others: keysOfProviders(config), options: undefined }),
    ...besideFallback(config, path),
  ]
}

interface Expected {
  readonly known: readonly string[]
  /** Whether all keys are known; then other libraries' names for them are mistakes too. */
  readonly isDeclared: boolean
  /** Keys that may be there for other leases. */
  readonly others?: readonly string[]
  /** The options of the provider, if every other key is a mistake. */
  readonly options: readonly string[] | undefined
}

function unknownIn(config: ConfigSource | object, block: ConfigBlock | undefined, expected: Expected): UnknownKey[] {
  if (block === undefined) return []
  const { known, isDeclared, others = [], options } = expected
  return Object.entries(block.settings).flatMap(([key, value]) => {
    const name = toCamelCase(key)
    if (known.includes(name) || others.includes(name)) return []
    const misspelled = pathsOfValues(key, value).flatMap((keys) => {
      const meant = keyMeantBy(keys, known, isDeclared)
      return meant === undefined ? [] : [misspelledKey(config, [...block.path, ...keys], [...block.path, meant])]
    })
    if (misspelled.length > 0 || options === undefined) return misspelled
    const path = [...block.path, key]
    const read = options.length === 0 ? '' : `; the options of this provider are ${options.map(toKebabCase).join(', ')}`
    return [{ path, warning: `'${path.join('.')}' is not a setting that anything reads: remove it${read}` }]
  })
}

/** Settings of `leasehold.lease` whose path was mistyped: `leasehold.leas.max-hold`, or `leasehold.max-hold`. */
function besideFallback(config: ConfigSource | object, path: string): UnknownKey[] {
  return Object.entries(findBlock(config, ROOT)?.settings ?? {}).flatMap(([name, value]) => {
    if (`${ROOT}.${name}` === DEFAULT_PATH || isBlockOfLease(value) || `${path}.`.startsWith(`${ROOT}.${name}.`))
      return []
    return pathsOfValues(name, value).flatMap((keys) => {
      const isMisspelled = keys.length > 1 && suggestionFor(name, [DEFAULT_PATH.slice(ROOT.length + 1)]) !== undefined
      // Several keys are one key that was parted only if they spell it together: a block may have a short name.
      const isKey = keys.length === 1 || sameWord(keys.join('-'), engineKeys) !== undefined
      if (!isMisspelled && !isKey) return []
      const meant = keyMeantBy(isMisspelled ? keys.slice(1) : keys, engineKeys, true)
      return meant === undefined ? [] : [misspelledKey(config, [ROOT, ...keys], [...DEFAULT_PATH.split('.'), meant])]
    })
  })
}

function misspelledKey(config: ConfigSource | object, path: readonly string[], meant: readonly string[]): UnknownKey {
  const isInPlace = path.slice(0, meant.length - 1).join('.') === meant.slice(0, -1).join('.')
  const suggestion = isInPlace ? meant.at(-1) : meant.join('.')
  const variable = /^environment variable (\S+)$/.exec(originOf(config, path)?.source ?? '')?.[1]
  const spelling = variable === undefined ? '' : `, which ${variableFor(meant, variable)} sets`
  const warning = `'${path.join('.')}' is not a setting that anything reads: did you mean '${suggestion}'${spelling}?`
  return { path, warning }
}

/** The name of the environment variable that sets a path, of the same kind as another. See `loadConfig`. */
function variableFor(path: readonly string[], other: string): string {
  const marks: Readonly<Record<string, string>> = { '.': '_', '-': '__', _: '___' }
  const name = path.join('.').replaceAll(/[._-]/g, (mark) => marks[mark] ?? mark)
  return other.startsWith('CONFIG_FORCE_') ? `CONFIG_FORCE_${name}` : name.toUpperCase()
}

/** The key of a configuration that a mistyped one means. A variable with `_` for `-` has parted a key into several. */
function keyMeantBy(keys: readonly string[], known: readonly string[], isDeclared: boolean): string | undefined {
  const word = keys.join('-')
  const name = suggestionFor(word, known) ?? (isDeclared ? ownNameFor(word, known) : undefined)
  if (name === undefined) return undefined
  return (settingKeys as Readonly<Record<string, string>>)[name] ?? toKebabCase(name)
}

/** The options of all providers whose blocks are in the configuration, as their `reference.conf` puts them there. */
function keysOfProviders(config: ConfigSource | object): readonly string[] {
  return Object.entries(findBlock(config, ROOT)?.settings ?? {}).flatMap(([name, block]) => {
    const isOfProvider = `${ROOT}.${name}` !== DEFAULT_PATH && isBlockOfLease(block)
    return isOfProvider ? Object.keys(block).map(toCamelCase) : []
  })
}

function isBlockOfLease(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).some((key) => toCamelCase(key) === 'leaseClass')
}
