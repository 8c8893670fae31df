import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseSettings, type LeaseSettingsOptions } from '../lease-settings.js'
import { type TimeoutOptions, TimeoutSettings } from '../timeout-settings.js'
import { toMilliseconds } from './duration.js'
import { toCamelCase } from './key-case.js'

/** A configuration: a parsed file, or any value that can be turned into a plain object. */
export interface ConfigSource {
  toObject(): unknown
  /** Where the value at a path came from; `source` is the path of a file, where it was one. */
  originOf?(path: string): { readonly source: string; readonly line: number } | undefined
}

/** The block that every lease falls back to. */
const DEFAULT_PATH = 'leasehold.lease'

/** One lease's block of the configuration, its keys in the camel case of the code. */
export type LeaseBlock = Readonly<Record<string, unknown>>

/** The key of each setting of the engine; a setting without one could not be given in a configuration. */
export const settingKeys = {
  heartbeatInterval: 'heartbeat-interval',
  heartbeatTimeout: 'heartbeat-timeout',
  operationTimeout: 'lease-operation-timeout',
  retryInterval: 'lease-retry-interval',
  strategy: 'strategy',
  maxHold: 'max-hold',
} as const satisfies Record<
  keyof TimeoutOptions | Exclude<keyof LeaseSettingsOptions, 'name' | 'owner' | 'timeouts' | 'options'>,
  string
>

/** The keys of a block that are not the provider's, in the camel case of the code; by Akka's names, and by the code's. */
export const engineKeys: readonly string[] = [
  'leaseClass',
  ...Object.entries(settingKeys).flatMap(([name, key]) => [toCamelCase(key), name]),
]

/** The block at the path with fallback to `leasehold.lease`; throws a `LeaseConfigurationError` if there is none. */
export function readLeaseBlock(config: ConfigSource | object, path: string): LeaseBlock {
  const block = lookUp(config, path)
  if (block === undefined) {
    throw new LeaseConfigurationError(`the configuration has no block '${path}': add it, or change the config path`)
  }
  return { ...lookUp(config, DEFAULT_PATH), ...block }
}

/** The keys that the block at the path has itself, as they are written there. */
export function keysOfBlock(config: ConfigSource | object, path: string): readonly string[] {
  return Object.keys(find(config, path) ?? {})
}

/** The settings of a lease from its block; the whole block becomes the provider's options. */
export function toLeaseSettings(name: string, owner: string, block: LeaseBlock): LeaseSettings {
  const setting = (name: keyof typeof settingKeys): unknown => block[toCamelCase(settingKeys[name])] ?? block[name]
  const duration = (name: keyof typeof settingKeys): number | undefined => {
    const value = setting(name)
    return value === undefined || value === null || value === '' ? undefined : toMilliseconds(settingKeys[name], value)
  }
  const timeouts = new TimeoutSettings({
    heartbeatInterval: duration('heartbeatInterval'),
    heartbeatTimeout: duration('heartbeatTimeout'),
    operationTimeout: duration('operationTimeout'),
    strategy: setting('strategy') as TimeoutOptions['strategy'],
  })
  const [maxHold, retryInterval] = [duration('maxHold'), duration('retryInterval')]
  return new LeaseSettings({ name, owner, timeouts, maxHold, retryInterval, options: block })
}

/** The origin of a key of the block at the path, or of its fallback. */
export function originOfKey(config: ConfigSource | object, path: string, key: string): string | undefined {
  if (!isConfigSource(config) || config.originOf === undefined) return undefined
  return (config.originOf(`${path}.${key}`) ?? config.originOf(`${DEFAULT_PATH}.${key}`))?.source
}

function isConfigSource(config: ConfigSource | object): config is ConfigSource {
  return 'toObject' in config && typeof config.toObject === 'function'
}

function lookUp(config: ConfigSource | object, path: string): LeaseBlock | undefined {
  const block = find(config, path)
  if (block === undefined) return undefined
  return Object.fromEntries(Object.entries(block).map(([key, setting]) => [toCamelCase(key), setting]))
}

function find(config: ConfigSource | object, path: string): object | undefined {
  let value: unknown = isConfigSource(config) ? config.toObject() : config
  for (const key of path.split('.')) {
    if (!isObject(value)) return undefined
    value = Object.entries(value).find(([own]) => own === key || toCamelCase(own) === key)?.[1]
  }
  return isObject(value) ? value : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
