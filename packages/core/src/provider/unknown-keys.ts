import { closest, distance } from 'fastest-levenshtein'
import { toCamelCase, toKebabCase } from './key-case.js'
import { engineKeys } from './lease-block.js'

/** Up to how many letters apart two keys are taken for one, misspelled. */
const MISSPELLED = 2

/**
 * One warning for each unknown key of a block, with the nearest known key. If a factory does not declare its keys, only
 * keys that look like misspelled keys of the engine are reported.
 */
export function unknownKeys(
  path: string,
  keys: readonly string[],
  optionKeys: readonly string[] | undefined,
): string[] {
  const known = [...engineKeys, ...(Array.isArray(optionKeys) ? optionKeys : [])]
  return keys.flatMap((key) => {
    const name = toCamelCase(key)
    if (known.includes(name)) return []
    const nearest = closest(name, known)
    if (optionKeys === undefined && distance(name, nearest) > MISSPELLED) return []
    return [`'${path}.${key}' is not a setting that anything reads: did you mean '${toKebabCase(nearest)}'?`]
  })
}
