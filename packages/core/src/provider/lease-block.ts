import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseSettings } from '../lease-settings.js'
import { type TimeoutOptions, TimeoutSettings } from '../timeout-settings.js'
import { toMilliseconds } from './duration.js'
import type { LeaseFactory } from './lease-factory.js'

/** What a configuration is read through: a parsed file, or anything else that can show itself as a plain object. */
export interface ConfigSource {
  toObject(): unknown
}

/** The block that every lease falls back to. */
const DEFAULT_PATH = 'leasehold.lease'

/** One lease's block of the configuration, its keys in the camel case of the code. */
export type LeaseBlock = Readonly<Record<string, unknown>>

/** The block at the path with fallback to `leasehold.lease`; throws a `LeaseConfigurationError` if there is none. */
export function readLeaseBlock(config: ConfigSource | object, path: string): LeaseBlock {
  const root = isConfigSource(config) ? config.toObject() : config
  const block = lookUp(root, path)
  if (block === undefined) {
    throw new LeaseConfigurationError(`the configuration has no block '${path}': add it, or change the config path`)
  }
  return { ...lookUp(root, DEFAULT_PATH), ...block }
}

/** The settings of a lease from its block; the whole block becomes the provider's options. */
export function toLeaseSettings(name: string, owner: string, block: LeaseBlock): LeaseSettings {
  const duration = (key: string): number | undefined => {
    const value = block[key]
    return value === undefined || value === '' ? undefined : toMilliseconds(key, value)
  }
  const timeouts = new TimeoutSettings({
    heartbeatInterval: duration('heartbeatInterval'),
    heartbeatTimeout: duration('heartbeatTimeout'),
    // Akka's key; the other is the name in code.
    operationTimeout: duration('leaseOperationTimeout') ?? duration('operationTimeout'),
    strategy: block.strategy as TimeoutOptions['strategy'],
  })
  return new LeaseSettings({ name, owner, timeouts, maxHold: duration('maxHold'), options: block })
}

/** The factory that `lease-class` names, or is. */
export function findFactory(
  path: string,
  { leaseClass }: LeaseBlock,
  factories: Readonly<Record<string, LeaseFactory>>,
): LeaseFactory {
  if (typeof leaseClass === 'function') return leaseClass as LeaseFactory
  if (typeof leaseClass === 'string' && Object.hasOwn(factories, leaseClass)) {
    const factory = factories[leaseClass]
    if (typeof factory === 'function') return factory
  }
  const known = Object.keys(factories).join(', ') || 'none'
  throw new LeaseConfigurationError(
    typeof leaseClass === 'string'
      ? `'${path}' names the lease-class '${leaseClass}', which is not among the factories given (${known})`
      : `'${path}' names no lease-class: set it to one of the factories given (${known})`,
  )
}

function isConfigSource(config: ConfigSource | object): config is ConfigSource {
  return 'toObject' in config && typeof config.toObject === 'function'
}

function lookUp(root: unknown, path: string): LeaseBlock | undefined {
  let value: unknown = root
  for (const key of path.split('.')) {
    if (!isObject(value)) return undefined
    value = Object.entries(value).find(([own]) => own === key || toCamelCase(own) === key)?.[1]
  }
  if (!isObject(value)) return undefined
  return Object.fromEntries(Object.entries(value).map(([key, setting]) => [toCamelCase(key), setting]))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function toCamelCase(key: string): string {
  return key.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
