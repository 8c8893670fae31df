import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { shownValue } from '../errors/shown-value.js'
import { suggestionFor } from '../errors/suggestion.js'
import { toMilliseconds } from '../settings/duration.js'
import { toCamelCase } from '../settings/key-case.js'
import { LeaseSettings, type LeaseSettingsOptions } from '../settings/lease-settings.js'
import { type TimeoutOptions, TimeoutSettings } from '../settings/timeout-settings.js'
import { blockPaths, type ConfigBlock, type ConfigSource, findBlock, originOf } from './config-source.js'

/** The block that every lease falls back to. */
export const DEFAULT_PATH = 'leasehold.lease'

/** One lease's block of the configuration, its keys in the camel case of the code. */
export type LeaseBlock = Readonly<Record<string, unknown>>

/** The key of each setting of the engine; a setting without one could not be given in a configuration. */
export const settingKeys = {
  heartbeatInterval: 'heartbeat-interval',
  heartbeatTimeout: 'heartbeat-timeout',
  operationTimeout: 'lease-operation-timeout',
  retryInterval: 'lease-retry-interval',
  strategy: 'strategy',
  objective: 'objective',
  maxHold: 'max-hold',
  childGrace: 'child-grace',
  selfFence: 'self-fence',
  unresponsiveAfter: 'unresponsive-after',
} as const satisfies Record<
  keyof TimeoutOptions | Exclude<keyof LeaseSettingsOptions, 'name' | 'owner' | 'timeouts' | 'options'>,
  string
>

/** The keys of a block that are not the provider's, in the camel case of the code; by Akka's names, and by the code's. */
export const engineKeys: readonly string[] = [
  'leaseClass',
  'heartbeatThread',
  'recorder',
  ...Object.entries(settingKeys).flatMap(([name, key]) => [toCamelCase(key), name]),
]

/** The block at the path with fallback to `leasehold.lease`; throws a `LeaseConfigurationError` if there is none. */
export function readLeaseBlock(config: ConfigSource | object, path: string): LeaseBlock {
  const block = findBlock(config, path)
  if (block !== undefined) return { ...inCamelCase(findBlock(config, DEFAULT_PATH)), ...inCamelCase(block) }
  const paths = blockPaths(config)
  const meant = suggestionFor(path, paths) ?? paths.find((other) => other.endsWith(`.${path}`))
  throw new LeaseConfigurationError(
    `the configuration has no block '${path}': ` +
      (meant === undefined ? 'add it, or change the config path' : `did you mean '${meant}'?`),
  )
}

/** The file that a setting of the block at the path, or of its fallback, was read from. */
export function fileOfSetting(config: ConfigSource | object, path: string, key: string): string | undefined {
  return (originOf(config, [...path.split('.'), key]) ?? originOf(config, [...DEFAULT_PATH.split('.'), key]))?.source
}

function inCamelCase(block: ConfigBlock | undefined): LeaseBlock {
  return Object.fromEntries(Object.entries(block?.settings ?? {}).map(([key, value]) => [toCamelCase(key), value]))
}

/** The settings of a lease from its block; the whole block becomes the provider's options. */
export function toLeaseSettings(name: string, owner: string, block: LeaseBlock): LeaseSettings {
  const setting = (name: keyof typeof settingKeys): unknown => block[toCamelCase(settingKeys[name])] ?? block[name]
  const duration = (name: keyof typeof settingKeys): number | undefined => {
    const value = setting(name)
    return value === undefined || value === null || value === '' ? undefined : toMilliseconds(settingKeys[name], value)
  }
  const objective = objectiveFrom(setting('objective'))
  const strategy = strategyFrom(setting('strategy'))
  const timeouts = new TimeoutSettings({
    heartbeatInterval: duration('heartbeatInterval'),
    heartbeatTimeout: duration('heartbeatTimeout'),
    operationTimeout: duration('operationTimeout'),
    // The default of the configuration, which nobody has chosen.
    strategy: objective !== undefined && strategy === 'interval' ? undefined : strategy,
    objective,
  })
  const [maxHold, retryInterval, childGrace] = [duration('maxHold'), duration('retryInterval'), duration('childGrace')]
  const selfFence = selfFenceFrom(setting('selfFence'))
  const unresponsiveAfter = duration('unresponsiveAfter')
  const engine = { maxHold, retryInterval, childGrace, selfFence, unresponsiveAfter }
  return new LeaseSettings({ name, owner, timeouts, ...engine, options: block })
}

/** Absent where it is switched off: HOCON reads a bare `off` as a text. The settings check other values. */
function selfFenceFrom(value: unknown): LeaseSettingsOptions['selfFence'] {
  const isOff = value === undefined || value === null || value === '' || value === 'off' || value === false
  return isOff ? undefined : (value as LeaseSettingsOptions['selfFence'])
}

/** An object such as `{ failover = 5s, false-losses-per-year = 1 }`. Absent where it is empty, or has only empty values. */
function objectiveFrom(value: unknown): TimeoutOptions['objective'] {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'object') return value as TimeoutOptions['objective']
  const given = Object.entries(value).filter(([, part]) => part !== '' && part !== null && part !== undefined)
  if (given.length === 0) return undefined
  const { failover, falseLossesPerYear, ...others } = Object.fromEntries(
    given.map(([key, part]) => [toCamelCase(key), part]),
  )
  const losses = typeof falseLossesPerYear === 'string' ? Number(falseLossesPerYear) : falseLossesPerYear
  const duration = failover === undefined ? undefined : toMilliseconds('objective.failover', failover)
  return { ...others, failover: duration, falseLossesPerYear: losses } as TimeoutOptions['objective']
}

/** A name, or an object such as `{ renew-at = 0.3 }`, whose number is a text if an environment variable gave it. */
function strategyFrom(value: unknown): TimeoutOptions['strategy'] {
  const { 'renew-at': kebab, renewAt = kebab, ...others } = Object(value) as Readonly<Record<string, unknown>>
  if (typeof value !== 'object' || renewAt === undefined) return value as TimeoutOptions['strategy']
  const part = typeof renewAt === 'string' && renewAt.trim() !== '' ? Number(renewAt) : renewAt
  return { ...others, renewAt: part } as TimeoutOptions['strategy']
}

/** The options of `recorder { folder = recordings, size = 20000 }`. Absent where it is empty, or has only empty values. */
export function recorderFrom({ recorder }: LeaseBlock): Readonly<Record<string, unknown>> | undefined {
  if (recorder === undefined || recorder === null || recorder === '' || recorder === 'off' || recorder === false) {
    return undefined
  }
  if (typeof recorder !== 'object') {
    const message = `recorder must be a block such as recorder { folder = recordings }, not ${shownValue(recorder)}`
    throw new LeaseConfigurationError(message)
  }
  const given = Object.entries(recorder).filter(([, value]) => value !== '' && value !== null && value !== undefined)
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map(([key, value]) => [
      toCamelCase(key),
      RECORDER_FLAGS.includes(key) ? (onOrOff(value) ?? value) : numberOrText(value),
    ]),
  )
}

const RECORDER_FLAGS: readonly string[] = ['metadata', 'stack']

const ON: readonly unknown[] = ['on', true, 'true', 'yes']
const OFF: readonly unknown[] = ['off', false, 'false', 'no', '', undefined, null]

/** Whether a word of a configuration means on; `undefined` if it means neither on nor off. */
export function onOrOff(value: unknown): boolean | undefined {
  if (ON.includes(value)) return true
  return OFF.includes(value) ? false : undefined
}

/** A number that an environment variable gave is a text. */
function numberOrText(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}
