import { parseHocon } from '@leasehold/config'
import { LeaseProvider, memoryLease } from '@leasehold/core'
import { LeaderElection, Once, type RecipeKind, readRecipe, Schedule, SingleFlight } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { startReports } from './readme/configured.js'

function providerOf(text: string, warnings: string[] = []): LeaseProvider {
  const config = parseHocon(`leasehold.lease.lease-class = memory\n${text}`)
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  return new LeaseProvider(config, { memory: memoryLease }, { logger })
}

it('a recipe takes its settings, and those of its leases, from a block', async () => {
  const warnings: string[] = []
  await using provider = providerOf(
    'indexer { heartbeat-timeout = 20s, stop-timeout = 3s, resign-pause = 0ms }',
    warnings,
  )
  const { store, options } = await readRecipe(provider, 'leader-election', 'indexer', 'indexer')
  expect(options).toMatchObject({ name: 'indexer', heartbeatTimeout: 20_000, stopTimeout: 3_000, resignPause: 0 })
  expect(options.maxHold).toBeUndefined()
  const election = new LeaderElection(store, options)
  expect(election.name).toBe('indexer')
  await election.stop()
  expect(warnings).toEqual([])
})

it('an election has its rank in a configuration; empty settings are not given', async () => {
  await using provider = providerOf(`
    indexer { rank = 3, preempt = true }
    standby { rank = "", preempt = false, advertise = "" }
  `)
  const { options } = await readRecipe(provider, 'leader-election', 'indexer', 'indexer')
  expect(options).toMatchObject({ rank: 3, preempt: true })
  const standby = await readRecipe(provider, 'leader-election', 'indexer', 'standby')
  expect([standby.options.rank, standby.options.advertise]).toEqual([undefined, undefined])
  await new LeaderElection(standby.store, standby.options).stop()
})

it('a setting that no recipe has is reported, with the block', async () => {
  const warnings: string[] = []
  await using provider = providerOf('indexer { stop-timeuot = 3s }', warnings)
  await readRecipe(provider, 'leader-election', 'indexer', 'indexer')
  expect(warnings.join()).toContain("did you mean 'stop-timeout'")
})

it('an invalid value, and a recipe that does not exist, are refused', async () => {
  await using provider = providerOf('indexer { stop-timeout = soon }')
  await expect(readRecipe(provider, 'leader-election', 'indexer', 'indexer')).rejects.toThrow(
    'stop-timeout must be a duration',
  )
  await expect(readRecipe(provider, 'leader' as RecipeKind, 'indexer', 'indexer')).rejects.toThrow('use one of')
})

it('a schedule has all its options in a configuration, but its work', async () => {
  await using provider = providerOf(`
    nightly = { cron = "0 3 * * *", time-zone = "Europe/Berlin", at-most-for = 1h, at-least-for = 1m, missed = run-once }
  `)
  const { store, options } = await readRecipe(provider, 'schedule', 'nightly', 'nightly')
  expect(options).toMatchObject({ timeZone: 'Europe/Berlin', atMostFor: 3_600_000, missed: 'run-once' })
  const schedule = new Schedule(store, { ...options, work: () => {} })
  expect((await schedule.read()).next).toBeInstanceOf(Date)
})

it('Once and SingleFlight have their options in a configuration', async () => {
  await using provider = providerOf(`
    imports { expires-after = 7d, stop-timeout = 3s }
    tokens { cache-size = 50, heartbeat-timeout = 20s }
  `)
  const imports = await readRecipe(provider, 'once', 'imports', 'imports')
  expect(imports.options).toMatchObject({ name: 'imports', expiresAfter: 604_800_000, stopTimeout: 3_000 })
  expect(await new Once(imports.store, imports.options).run('monday', async () => 1)).toBe(1)
  const tokens = await readRecipe(provider, 'single-flight', 'tokens', 'tokens')
  expect(tokens.options).toMatchObject({ name: 'tokens', cacheSize: 50, heartbeatTimeout: 20_000 })
  expect(await new SingleFlight(tokens.store, tokens.options).get('ada', async () => 1, { freshFor: 1 })).toBe(1)
  const unlimited = await readRecipe(provider, 'once', 'others', 'leasehold.lease')
  expect(new Once(unlimited.store, unlimited.options)).toBeInstanceOf(Once)
})

it('the snippet of the README starts a schedule', async () => {
  await using provider = providerOf('reports.nightly { cron = "0 3 * * *", at-most-for = 1h }')
  await using schedule = await startReports(provider, async () => {})
  expect((await schedule.read()).next?.toISOString()).toMatch(/T03:00:00/)
})
