import diagnosticsChannel from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { createLease, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { metrics, trace as traces } from '@opentelemetry/api'
import { expect, it, onTestFinished } from 'vitest'
import { type InstrumentLeasesOptions, instrumentLeases } from '../src/index.js'
import { leaseFields, publish, trace } from './support/messages.js'
import { Telemetry } from './support/telemetry.js'

const acquired = { fencingToken: 1n, grantId: 'g', ttl: 2_000 }

const plain = ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released', 'waiting']
const more = ['guard-rejected', 'stall', 'elected', 'resigned', 'tick', 'permit', 'partition', 'partitions']
const ofRegions = ['shard', 'delivery', 'region']
const operations = ['acquire', 'run', 'store'].flatMap((name) =>
  ['start', 'end', 'asyncEnd'].map((at) => `tracing:leasehold:${name}:${at}`),
)
const channels = [...[...plain, ...more, ...ofRegions].map((name) => `leasehold:${name}`), ...operations]

it('subscribes to every channel, and disable() leaves nothing behind', async () => {
  const telemetry = new Telemetry()
  const { meterProvider, tracerProvider } = telemetry
  const before = channels.filter((name) => diagnosticsChannel.hasSubscribers(name))
  const instrumentation = instrumentLeases({ meterProvider, tracerProvider })
  const lease = leaseFields('left')
  publish('acquired', { ...lease, ...acquired })
  expect(channels.filter((name) => !diagnosticsChannel.hasSubscribers(name))).toEqual([])
  instrumentation.disable()
  instrumentation.disable()
  expect(channels.filter((name) => diagnosticsChannel.hasSubscribers(name))).toEqual(before)
  // The open spans have ended, and the observable instruments show nothing any more.
  expect(telemetry.spans().map(({ name }) => name)).toEqual(['term left'])
  publish('released', { ...lease, end: 'released', held: 1 })
  expect(await telemetry.series('leasehold.lease.held')).toEqual([])
  expect(await telemetry.series('leasehold.hold.duration')).toEqual([])
  await telemetry.shutdown()
})

it('records nothing and throws nothing without a provider', async () => {
  const instrumentation = instrumentLeases({ linkTerms: true })
  onTestFinished(() => instrumentation.disable())
  const lease = createLease(new MemoryLeaseStore(), 'unseen')
  expect(await lease.run(async ({ fencingToken }) => fencingToken)).toBe(1n)
  const fields = leaseFields('unseen')
  expect(await trace('run', { ...fields }, async () => 'done')).toBe('done')
  publish('acquired', { ...fields, ...acquired })
  publish('lost', { ...fields, reason: 'expired', lost: {}, held: 1 })
})

it('records from the registration of a global provider on, with the leases that are held by then', async () => {
  const instrumentation = instrumentLeases()
  const telemetry = new Telemetry()
  onTestFinished(async () => {
    instrumentation.disable()
    metrics.disable()
    traces.disable()
    await telemetry.shutdown()
  })
  const lease = leaseFields('early')
  publish('acquired', { ...lease, ...acquired })
  metrics.setGlobalMeterProvider(telemetry.meterProvider)
  traces.setGlobalTracerProvider(telemetry.tracerProvider)
  publish('renewed', { ...lease, margin: 0.5 })
  expect(await telemetry.series('leasehold.lease.held')).toMatchObject([{ value: 1 }])
  await trace('run', { ...lease }, async () => {})
  expect(telemetry.spans().map(({ name }) => name)).toContain('run early')
})

const broken = () => {
  throw new Error('broken')
}

it.each<[string, Record<string, unknown>, RegExp]>([
  ['an unknown option', { groups: () => 'x' }, /has no option 'groups': did you mean 'group'/],
  ['a group that is no function', { group: 'x' }, /group must be a function/],
  ['a limit of no groups', { maxGroups: 0 }, /maxGroups must be a positive whole number, not 0/],
  ['a limit that is a text', { maxGroups: '7' }, /maxGroups/],
  ['a provider of another kind', { meterProvider: {} }, /meterProvider must have a method 'getMeter'/],
  ['no tracer provider', { tracerProvider: null }, /tracerProvider must have a method 'getTracer'/],
  ['a flag that is a text', { leaderElectionMasterStatus: 'yes' }, /leaderElectionMasterStatus must be true or false/],
  ['a link that is a text', { linkTerms: 'yes' }, /linkTerms must be true, false or a function/],
  ['a clock without a time', { clock: {} }, /clock must have a method 'now'/],
])('rejects %s, which plain JavaScript can pass', (_, options, message) => {
  const before = channels.filter((name) => diagnosticsChannel.hasSubscribers(name))
  const call = () => instrumentLeases(options as InstrumentLeasesOptions)
  expect(call).toThrow(LeaseConfigurationError)
  expect(call).toThrow(message)
  expect(channels.filter((name) => diagnosticsChannel.hasSubscribers(name))).toEqual(before)
})

it('survives functions and providers of the user that throw', async () => {
  const telemetry = new Telemetry()
  const { meterProvider } = telemetry
  const tracerProvider = { getTracer: () => ({ startSpan: broken, startActiveSpan: broken }) }
  const instrumentation = instrumentLeases({ meterProvider, tracerProvider, group: broken, linkTerms: broken })
  onTestFinished(() => instrumentation.disable())
  const lease = leaseFields('name')
  expect(await trace('run', { ...lease }, async () => 'done')).toBe('done')
  publish('acquired', { ...lease, ...acquired })
  expect(await telemetry.series('leasehold.lease.held')).toEqual([{ store: 'memory', value: 1 }])
  await telemetry.shutdown()
})

it('the README has each instrument, with its unit and its attributes', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const units = new Map(
    [...readme.matchAll(/^\| `(leasehold\.[\w.]+)` \| [^|]*`(\S+)` \|/gm)].map(([, name, unit]) => [name, unit]),
  )
  const created = new Map<string, string>()
  const instrument = new Proxy({}, { get: () => () => {} })
  const create = (name: string, { unit }: { unit: string }) => {
    created.set(name, unit)
    return instrument
  }
  const meter = new Proxy({}, { get: () => create })
  instrumentLeases({ meterProvider: { getMeter: () => meter } as never }).disable()
  expect(created.size).toBe(22)
  expect(Object.fromEntries(units)).toEqual(Object.fromEntries(created))
})
