import { parseHocon } from '@leasehold/config'
import {
  type CreateLeaseOptions,
  createLease,
  type Lease,
  type LeaseFactory,
  LeaseProvider,
  type LeaseSettings,
  type LeaseStore,
  type Logger,
  MemoryLeaseStore,
  StoreLease,
} from '@leasehold/core'
import { type LeaseRecording, recordLease, transition } from '@leasehold/core/internal'
import type { ProviderOptions } from '@leasehold/core/store-kit'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { AzureBlobLeaseStore } from '../../packages/azure-blob/src/index.js'
import type { OptionDeclaration } from '../../packages/cli/src/command-declaration.js'
import { parseInvocation } from '../../packages/cli/src/command-line.js'
import { run } from '../../packages/cli/src/declarations.js'
import { leaseOptions, notOnCommandLine } from '../../packages/cli/src/run/lease-options.js'
import { settingKeys } from '../../packages/core/src/provider/lease-block.js'
import { toKebabCase } from '../../packages/core/src/settings/key-case.js'
import { readRecipe } from '../../packages/recipes/src/index.js'
import { packages } from '../workspaces.js'

/** Makes a lease with one of the options of `createLease`. */
type Make = (options: CreateLeaseOptions) => Promise<Lease>

/** Shows that an option has reached the engine of the lease. */
type Probe = (make: Make) => Promise<void>

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function setting(options: CreateLeaseOptions, read: (settings: LeaseSettings) => unknown): Probe {
  return async (make) => {
    const { settings } = await make(options)
    expect([read(settings)]).toEqual(Object.values(options))
  }
}

/** One for each option: the compiler reports an option without a probe. */
const probes: Readonly<Record<keyof CreateLeaseOptions, Probe>> = {
  owner: setting({ owner: 'me' }, ({ owner }) => owner),
  heartbeatTimeout: setting({ heartbeatTimeout: 77_000 }, ({ timeouts }) => timeouts.heartbeatTimeout),
  heartbeatInterval: setting({ heartbeatInterval: 7_000 }, ({ timeouts }) => timeouts.heartbeatInterval),
  operationTimeout: setting({ operationTimeout: 700 }, ({ timeouts }) => timeouts.operationTimeout),
  strategy: setting({ strategy: 'eager' }, ({ timeouts }) => timeouts.strategy.name),
  objective: setting({ objective: { failover: 7_000, falseLossesPerYear: 2 } }, ({ timeouts }) => timeouts.objective),
  maxHold: setting({ maxHold: 70_000 }, ({ maxHold }) => maxHold),
  childGrace: setting({ childGrace: 1_500 }, ({ childGrace }) => childGrace),
  selfFence: setting({ selfFence: 'exit' }, ({ selfFence }) => selfFence),
  unresponsiveAfter: async (make) => {
    await expect(make({ unresponsiveAfter: 4_000 })).rejects.toThrow('unresponsiveAfter is for leases whose heartbeats')
  },
  clock: async (make) => {
    const clock = new VirtualClock()
    const lease = await make({ clock, heartbeatTimeout: 20_000 })
    expect(await lease.acquire()).toBe(true)
    // No timer of the lease runs before the look.
    clock.suspend(20_000)
    expect(lease.checkLease()).toBe(false)
  },
  logger: async (make) => {
    const errors: unknown[] = []
    const lease = await make({ logger: { ...quiet, error: (message) => void errors.push(message) } })
    const onLost = (): never => {
      throw new Error('user code failed')
    }
    await lease.acquire({ onLost })
    if (lease instanceof StoreLease) await lease.close()
    expect(errors).toHaveLength(1)
  },
  random: async (make) => {
    let drawn = 0
    const clock = new VirtualClock()
    const random = (): number => {
      drawn += 1
      return 0.5
    }
    const lease = await make({ random, clock })
    await lease.acquire()
    // The first heartbeat is planned a little later.
    await clock.advance(1_000)
    expect(drawn).toBeGreaterThan(0)
  },
  recorder: async (make) => {
    const events: string[] = []
    const recording: LeaseRecording = {
      transition: (state, event, context) => {
        events.push(event.type)
        return transition(state, event, context)
      },
    }
    const recorder = { write: () => '', [recordLease]: () => recording }
    const lease = await make({ recorder })
    await lease.acquire()
    expect(events).toContain('acquire')
  },
  parent: async (make) => {
    const parent = createLease(new MemoryLeaseStore(), 'parent')
    const lease = await make({ parent })
    await expect(lease.acquire()).rejects.toThrow("its parent 'parent' is not held")
  },
}

const names = Object.keys(probes) as (keyof typeof probes)[]

/** A store in memory with the type that `createAzureBlobLease` takes. */
function storeOf(maker: string): LeaseStore {
  const memory = new MemoryLeaseStore()
  if (maker !== 'createAzureBlobLease' && maker !== 'azureBlobLease') return memory
  const client = { getBlockBlobClient: () => ({}) } as unknown as ConstructorParameters<typeof AzureBlobLeaseStore>[0]
  const store = new AzureBlobLeaseStore(client)
  const acquire: LeaseStore['acquire'] = (request, call) => memory.acquire(request, call)
  const release: LeaseStore['release'] = (grant, call) => memory.release(grant, call)
  return Object.assign(store, { acquire, release, limits: memory.limits })
}

type Creator = (store: LeaseStore, name: string, options: CreateLeaseOptions) => Lease
type DeclaredFactory = LeaseFactory & { readonly options?: ProviderOptions }

const creators: (readonly [string, Creator])[] = []
const factories: (readonly [string, DeclaredFactory])[] = []
for (const { manifest } of packages()) {
  if (manifest.exports?.['.'] === undefined) continue
  const exported: Record<string, unknown> = await import(manifest.name)
  for (const [name, value] of Object.entries(exported)) {
    if (typeof value !== 'function') continue
    if (/^create\w*Lease$/.test(name)) creators.push([name, value as Creator])
    if ('optionKeys' in value) factories.push([name, value as DeclaredFactory])
  }
}

it('the functions and factories of all packages are under test', () => {
  expect(creators.map(([name]) => name)).toEqual(['createAzureBlobLease', 'createLease'])
  expect(factories.map(([name]) => name)).toEqual(
    expect.arrayContaining(['azureBlobLease', 'etcdLease', 'localLease', 'memoryLease', 'postgresLease', 'redisLease']),
  )
})

describe.each(creators)('%s', (name, create) => {
  it.each(names)('passes %s on', async (option) => {
    await probes[option](async (options) => create(storeOf(name), 'job', options))
  })
})

/** The options that must be given, each with the example of its declaration. */
function requiredOptions({ options }: DeclaredFactory): object {
  const block = (options?.settings() ?? '').replaceAll(/^( *)# ([a-z-]+ = .*)$/gm, '$1$2')
  return parseHocon(`it {\n${block}}`, { env: {} }).getConfig('it').toObject()
}

/** A provider with a block for the factory, and with one option where a configuration has it. */
function configured(
  factory: LeaseFactory,
  { clock, logger, random, recorder, ...settings }: CreateLeaseOptions,
): LeaseProvider {
  const entries = Object.entries(settings).map(([name, value]) => [
    settingKeys[name as keyof typeof settingKeys],
    value,
  ])
  const block = { ...requiredOptions(factory), ...Object.fromEntries(entries), 'lease-class': 'under-test' }
  const given = { ...(clock && { clock }), ...(random && { random }), ...(recorder && { recorder }) }
  const environment = { ...given, logger: logger ?? quiet }
  return new LeaseProvider({ under: { test: block } }, { 'under-test': factory }, environment)
}

/** A parent is an object: a configuration has none. */
const configurable = names.filter((name) => name !== 'parent')

describe.each(factories)('the factory %s, under a LeaseProvider,', (name, factory) => {
  it.each(configurable)('passes %s on', async (option) => {
    const overMemory: LeaseFactory = (settings, context) =>
      factory(settings, { ...context, share: async <S extends LeaseStore>() => storeOf(name) as S })
    await probes[option](async ({ owner, ...options }) => {
      const provider = configured(Object.assign(overMemory, factory), options)
      return await provider.getLease('job', 'under.test', owner)
    })
  })
})

describe('readRecipe', () => {
  it.each(configurable.filter((name) => name !== 'owner'))('passes %s on', async (option) => {
    const factory: LeaseFactory = () => createLease(new MemoryLeaseStore(), 'job')
    await probes[option](async (given) => {
      const { options } = await readRecipe(configured(factory, given), 'leader-election', 'job', 'under.test')
      const ofLease = Object.fromEntries(names.map((name) => [name, options[name]]))
      return createLease(new MemoryLeaseStore(), 'job', ofLease)
    })
  })
})

/** The option of `leasehold run` for each option of a lease that has one. */
const flags = new Map(
  Object.entries<OptionDeclaration>(run.options).flatMap(([flag, { lease }]) =>
    lease ? [[lease, flag] as const] : [],
  ),
)

/** A lease of `leasehold run`, with options of its command line, and those of a configuration as the settings. */
async function leaseOfRun(words: readonly string[], { clock, logger, random: _, ...given }: CreateLeaseOptions) {
  const factory: LeaseFactory = () => createLease(new MemoryLeaseStore(), 'job')
  const { settings, recorder } = await configured(factory, given).getStore('job', 'under.test')
  const { options } = parseInvocation(run, ['job', ...words, '--', 'true'])
  const environment = { clock, logger: logger ?? quiet, recorder }
  return createLease(new MemoryLeaseStore(), 'job', leaseOptions(settings, options, environment))
}

describe('leasehold run', () => {
  it('has an option for each option of a lease, or a reason why it has none', () => {
    expect([...flags.keys(), ...Object.keys(notOnCommandLine)].sort()).toEqual([...names].sort())
    const others = [...flags].filter(([, flag]) => flag !== 'ttl' && flag !== 'timeout')
    for (const [option, flag] of others) expect(flag).toBe(toKebabCase(option))
  })

  it.each([...flags])('passes %s on: --%s', async (option, flag) => {
    await probes[option](async (options) => {
      const [value] = Object.values(options)
      return await leaseOfRun([`--${flag}=${typeof value === 'number' ? `${value}ms` : value}`], {})
    })
  })

  it.each(configurable.filter((name) => name !== 'owner' && name !== 'random'))(
    'passes %s of its configuration on',
    async (option) => {
      await probes[option]((options) => leaseOfRun([], options))
    },
  )
})

it('azureBlobLease makes the leases of its package', async () => {
  const [, factory] = factories.find(([name]) => name === 'azureBlobLease') ?? []
  const context = { configPath: 'it', clock: new VirtualClock(), logger: quiet }
  const { settings } = createLease(new MemoryLeaseStore(), 'job')
  const share = async <S extends LeaseStore>(): Promise<S> => storeOf('azureBlobLease') as S
  expect(await factory?.(settings, { ...context, share })).toHaveProperty('etag')
})
