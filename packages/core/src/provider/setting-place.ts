import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { toCamelCase, toKebabCase } from '../settings/key-case.js'
import { type ConfigSource, findBlock, placeOf } from './config-source.js'
import { DEFAULT_PATH, settingKeys } from './lease-block.js'

/** The words with which errors and warnings say where a setting stands: its block, its lease, the file and the line. */
export function placeText(
  config: ConfigSource | object,
  block: string,
  lease: string,
  path: readonly string[],
): string {
  const place = placeOf(config, path)
  return ` (block '${block}', lease '${lease}'${place === undefined ? '' : `, ${place}`})`
}

/** The error with the place of the setting that its message names first, or else of the block. */
export function withPlace(
  error: LeaseConfigurationError,
  config: ConfigSource | object,
  block: string,
  lease: string,
): LeaseConfigurationError {
  const place = placeText(config, block, lease, settingIn(error.message, config, block))
  const { owner, store, cause = error } = error
  return new LeaseConfigurationError(error.message + place, {
    leaseName: lease,
    ...(owner === undefined ? {} : { owner }),
    ...(store === undefined ? {} : { store }),
    cause,
  })
}

/** The path of the first setting of the block, or of its fallback, that the message names and that has a value. */
function settingIn(message: string, config: ConfigSource | object, block: string): readonly string[] {
  let [path, first]: [readonly string[], number] = [findBlock(config, block)?.path ?? block.split('.'), Infinity]
  for (const found of [findBlock(config, block), findBlock(config, DEFAULT_PATH)]) {
    for (const [key, value] of Object.entries(found?.settings ?? {})) {
      const index = value === '' || value === null ? -1 : indexOfKey(message, key)
      if (found === undefined || index < 0 || index >= first) continue
      ;[path, first] = [[...found.path, key], index]
    }
  }
  return path
}

/** A message uses the name of the configuration or that of the code. */
function indexOfKey(message: string, key: string): number {
  const camel = toCamelCase(key)
  const inCode = Object.entries(settingKeys).find(([, own]) => toCamelCase(own) === camel)?.[0] ?? camel
  const names = [key, camel, toKebabCase(camel), inCode].map((name) => name.replaceAll(/\W/g, '\\$&'))
  return message.search(new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`))
}
