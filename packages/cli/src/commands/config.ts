import type { Config } from '@leasehold/config'
import { LeaseProvider, type LeaseSettings, memoryLease } from '@leasehold/core'
import { originOf, originText } from '@leasehold/core/internal'
import type { Action } from '../command-declaration.js'
import type { config as declaration } from '../declarations.js'
import { durationSetting } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { configOf, DEFAULT_PATH, loggerOf } from '../store-selection.js'
import { writeTable } from '../table.js'
import { type Terminal, writeJSON } from '../terminal.js'

/** A setting in force. */
interface Setting {
  /** Below the path of the lease. */
  readonly key: string
  /** Masked, if it is a secret. */
  readonly value: unknown
  readonly origin: string
}

type Plain = Readonly<Record<string, unknown>>

/** Prints the settings of a block, with those of `leasehold.lease` that it does not have itself. */
export const printConfig: Action<typeof declaration> = async ({ options }, terminal) => {
  const { path, withOrigins } = await configOf(options, terminal)
  const config = await withOrigins()
  const settings = settingsIn(config, path)
  const effective = await leaseSettings(config, path, terminal)
  const derived = derivedFrom(effective).filter(({ key }) => !settings.some((setting) => setting.key === key))
  const all = [...settings, ...derived].sort((one, other) => (one.key < other.key ? -1 : 1))
  if (options.output === 'json') writeJSON(terminal, { path, settings: all })
  else {
    const rows = all.map(({ key, value, origin }) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
      origin,
    ])
    writeTable(terminal, ['SETTING', 'VALUE', 'ORIGIN'], rows)
  }
  return exitCodes.ok
}

/** The settings that have a value. An empty text stands for none: the setting is then derived. */
function settingsIn(config: Config, path: string): readonly Setting[] {
  const masked = config.toJSON()
  const found = new Map<string, Setting>()
  for (const block of [DEFAULT_PATH, path]) {
    const place = block.split('.')
    for (const [keys, value] of leavesOf(place.reduce((inner, key) => Object(inner)[key], masked))) {
      if (value === '') continue
      const origin = originOf(config, [...place, ...keys])
      const shownOrigin = origin === undefined ? 'default' : originText(origin)
      found.set(keys.join('.'), { key: keys.join('.'), value, origin: shownOrigin })
    }
  }
  return [...found.values()]
}

/** The settings of the lease, as core reads them: it checks them, and derives those that are not given. */
async function leaseSettings(config: Config, path: string, terminal: Terminal): Promise<LeaseSettings> {
  const source = {
    toObject: () => withoutProvider(config.toObject(), path.split('.')),
    originOf: (place: string) => config.originOf(place),
  }
  await using provider = new LeaseProvider(source, {}, { clock: terminal.clock, logger: loggerOf(terminal) })
  const { settings } = await provider.getStore('config', path)
  return settings
}

/** A copy in which the leases of a block are in memory: no provider is loaded, and no store is asked. */
function withoutProvider(value: Plain, [first = '', ...rest]: readonly string[]): Plain {
  const { [first]: block, ...others } = value
  if (typeof block !== 'object' || block === null) return value
  // It declares no keys of its own, so that the options of the provider do not count as unknown keys.
  const inMemory: typeof memoryLease = (...lease) => memoryLease(...lease)
  const changed = rest.length > 0 ? withoutProvider(block as Plain, rest) : { ...block, 'lease-class': inMemory }
  return { ...others, [first]: changed }
}

function derivedFrom({ timeouts, maxHold = Number.POSITIVE_INFINITY }: LeaseSettings): readonly Setting[] {
  const durations = [
    ['heartbeat-timeout', timeouts.heartbeatTimeout],
    ['heartbeat-interval', timeouts.heartbeatInterval],
    ['lease-operation-timeout', timeouts.operationTimeout],
    ...(maxHold === Number.POSITIVE_INFINITY ? [] : [['max-hold', maxHold] as const]),
  ] as const
  return durations.map(([key, duration]) => ({ key, value: durationSetting(duration), origin: 'derived' }))
}

/** All values that are no objects, with the keys that lead to them. */
function leavesOf(value: unknown): readonly (readonly [keys: readonly string[], value: unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const deeper = leavesOf(inner)
    return deeper.length === 0 ? [[[key], inner]] : deeper.map(([keys, leaf]) => [[key, ...keys], leaf])
  })
}
