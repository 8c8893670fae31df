import { LeaseTimeoutError, type Metadata } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { context, trace as traces } from '@opentelemetry/api'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type InstrumentLeasesOptions, instrumentLeases } from '../src/index.js'
import { leaseFields, publish, trace } from './support/messages.js'
import { keepContext, sdkVersion, Telemetry } from './support/telemetry.js'

afterAll(keepContext())

let telemetry: Telemetry

beforeEach(() => {
  telemetry = new Telemetry()
  return () => telemetry.shutdown()
})

function instrument(options: InstrumentLeasesOptions = {}) {
  const { meterProvider, tracerProvider } = telemetry
  const instrumentation = instrumentLeases({ meterProvider, tracerProvider, ...options })
  onTestFinished(() => instrumentation.disable())
  return instrumentation
}

const grant = { fencingToken: 1n, grantId: 'g', ttl: 2_000 }

it('the SDK is the third where Node runs it', () => {
  expect(sdkVersion).toBe(Number.parseInt(process.versions.node, 10) < 22 ? 2 : 3)
})

describe('the metrics of messages', () => {
  it('show held leases by store, group and recipe, and the least validity', async () => {
    instrument()
    const leases = ['shown-1', 'shown-2', 'shown-2'].map(leaseFields)
    const metadata = { recipe: 'leader-election' }
    for (const lease of leases) publish('acquired', { ...lease, ...grant })
    publish('acquired', { ...leaseFields('shown-3'), ...grant, metadata })
    const group = { store: 'memory', 'lease.group': 'shown-*' }
    expect(await telemetry.series('leasehold.lease.held')).toEqual([
      { ...group, value: 3 },
      { ...group, recipe: 'leader-election', value: 1 },
    ])
    expect(await telemetry.series('leasehold.validity.min')).toEqual([{ ...group, value: 1.5 }])
    for (const lease of leases) publish('released', { ...lease, end: 'released', held: 2_000, fencingToken: 1n })
    expect(await telemetry.series('leasehold.lease.held')).toMatchObject([{ value: 0 }, { value: 1 }])
    expect(await telemetry.series('leasehold.hold.duration')).toEqual([{ ...group, end: 'released', value: 3, sum: 6 }])
  })

  it('count a lease that was held before the instrumentation from its next heartbeat on', async () => {
    instrument()
    const lease = leaseFields('early')
    publish('renewed', { ...lease, fencingToken: 1n, duration: 3, remaining: 1_200, ttl: 2_000, margin: 0.6 })
    expect(await telemetry.series('leasehold.lease.held')).toMatchObject([{ value: 1 }])
    expect(await telemetry.series('leasehold.renewal.margin')).toMatchObject([{ value: 1, sum: 0.6 }])
    publish('lost', { ...lease, reason: 'expired', lost: {}, held: 5_000 })
    expect(await telemetry.series('leasehold.lease.held')).toMatchObject([{ value: 0 }])
    publish('released', { ...leaseFields('early'), end: 'released', held: 1 })
    expect(await telemetry.series('leasehold.lease.held')).toMatchObject([{ value: 0 }])
  })

  it('measure operations, and name their errors', async () => {
    const clock = new VirtualClock()
    instrument({ clock })
    const answer = async (message: object, outcome?: string, error?: Error) =>
      await trace('store', message, async () => {
        await clock.advance(250)
        Object.assign(message, { outcome })
        if (error !== undefined) throw error
      }).catch(() => {})
    await answer({ store: 'memory', operation: 'renewMany', leases: 40 }, 'renewed')
    await answer({ store: 'memory', operation: 'acquire', leases: 1 }, 'unknown', new LeaseTimeoutError('late', {}))
    const failure = { store: 'memory', outcome: 'unknown', 'error.type': 'LeaseTimeoutError' }
    expect(await telemetry.series('leasehold.store.operation.duration')).toEqual([
      { store: 'memory', operation: 'renewMany', outcome: 'renewed', value: 1, sum: 0.25 },
      { ...failure, operation: 'acquire', value: 1, sum: 0.25 },
    ])
    expect(await telemetry.series('leasehold.renewal.duration')).toEqual([
      { store: 'memory', outcome: 'renewed', value: 1, sum: 0.25 },
    ])
  })

  it('count an operation that throws before it returns a promise once', async () => {
    instrument()
    const message = { store: 'memory', operation: 'read', leases: 1 }
    const thrown = new TypeError('at once')
    const { tracingChannel } = await import('node:diagnostics_channel')
    expect(() =>
      tracingChannel('leasehold:store').tracePromise(() => {
        throw thrown
      }, message),
    ).toThrow(thrown)
    expect(await telemetry.series('leasehold.store.operation.duration')).toMatchObject([
      { 'error.type': 'TypeError', value: 1 },
    ])
  })

  it('measure a hand-over where the time without a holder is known', async () => {
    instrument()
    const lease = leaseFields('name')
    publish('acquired', { ...lease, ...grant, from: 'free', vacancy: undefined })
    publish('acquired', { ...lease, ...grant, from: 'break', vacancy: 250 })
    expect(await telemetry.series('leasehold.handover.duration')).toMatchObject([
      { kind: 'break', value: 1, sum: 0.25 },
    ])
  })

  it('count the messages, the moves and the entities of regions', async () => {
    instrument()
    const of = { region: 'accounts', owner: 'o' }
    publish('shard', { ...of, shard: 1, state: 'taken' })
    publish('shard', { ...of, shard: 2, state: 'taken' })
    publish('shard', { ...of, shard: 1, state: 'lost' })
    publish('delivery', { ...of, operation: 'tell', outcome: 'delivered' })
    publish('delivery', { ...of, operation: 'tell', outcome: 'delivered' })
    publish('delivery', { ...of, operation: 'ask', outcome: 'unknown' })
    publish('region', { ...of, entities: 7, waiting: 2 })
    publish('region', { ...of, owner: 'p', entities: 1, waiting: 0 })
    publish('region', { ...of, entities: 5, waiting: 3 })
    const region = 'accounts'
    expect(await telemetry.series('leasehold.region.moves')).toEqual([
      { region, state: 'taken', value: 2 },
      { region, state: 'lost', value: 1 },
    ])
    expect(await telemetry.series('leasehold.region.messages')).toEqual([
      { region, operation: 'tell', outcome: 'delivered', value: 2 },
      { region, operation: 'ask', outcome: 'unknown', value: 1 },
    ])
    expect(await telemetry.series('leasehold.region.entities')).toEqual([{ region, value: 6 }])
    expect(await telemetry.series('leasehold.region.waiting')).toEqual([{ region, value: 3 }])
    publish('region', { ...of, entities: 0, waiting: 0 })
    publish('region', { ...of, owner: 'p', entities: 0, waiting: 0 })
    expect(await telemetry.series('leasehold.region.entities')).toEqual([{ region, value: 0 }])
  })

  it('have a bounded number of series, whatever the names', async () => {
    instrument({ maxGroups: 50 })
    for (let index = 0; index < 10_000; index += 1) {
      const name = Array.from(String(index), (digit) => 'abcdefghij'[Number(digit)]).join('')
      const lease = leaseFields(name)
      publish('acquired', { ...lease, ...grant })
      publish('released', { ...lease, end: 'released', held: 1 })
      publish('permit', { semaphore: name, owner: 'o', held: true, permits: 2 })
    }
    expect(await telemetry.series('leasehold.lease.held')).toHaveLength(51)
    expect(await telemetry.series('leasehold.hold.duration')).toHaveLength(51)
    expect(await telemetry.series('leasehold.permits')).toHaveLength(2 * 51)
  })

  it('lack the group where the function of the user fails', async () => {
    instrument({
      group: () => {
        throw new Error('no group')
      },
    })
    publish('acquired', { ...leaseFields('name'), ...grant })
    expect(await telemetry.series('leasehold.lease.held')).toEqual([{ store: 'memory', value: 1 }])
    publish('elected', { election: 'name', owner: 'o', term: 1n })
    expect(await telemetry.series('leasehold.leader')).toEqual([{ value: 1 }])
  })
})

describe('the spans of messages', () => {
  it('make the work of a run the child of the run, across await', async () => {
    instrument()
    const tracer = telemetry.tracerProvider.getTracer('test')
    const lease = leaseFields('job-1')
    await trace('run', { ...lease, fencingToken: 7n }, async () => {
      await Promise.resolve()
      tracer.startSpan('work').end()
    })
    const run = telemetry.span('run job-*')
    expect(run.attributes).toMatchObject({ 'lease.name': 'job-1', 'lease.group': 'job-*', 'lease.fencing_token': '7' })
    expect(telemetry.span('work').parentSpanContext?.spanId).toBe(run.spanContext().spanId)
    expect(traces.getSpan(context.active())).toBeUndefined()
  })

  it('show a jeopardy and a loss in the term', async () => {
    instrument()
    const lease = leaseFields('job')
    publish('acquired', { ...lease, ...grant })
    publish('jeopardy', { ...lease, fencingToken: 1n, cause: new TypeError('x'), remaining: 900 })
    publish('recovered', { ...lease, fencingToken: 1n, remaining: 1_800 })
    publish('jeopardy', { ...lease, fencingToken: 1n, remaining: 900 })
    publish('lost', { ...lease, reason: 'expired', lost: {}, held: 5_000 })
    const { events, status, attributes } = telemetry.span('term job')
    expect(events.map(({ name, attributes: of }) => ({ name, ...of }))).toEqual([
      { name: 'jeopardy', 'error.type': 'TypeError', remaining: 0.9 },
      { name: 'recovered', remaining: 1.8 },
      { name: 'jeopardy', remaining: 0.9 },
      { name: 'lost', reason: 'expired' },
    ])
    expect(status.message).toBe('lost: expired')
    expect(attributes).toMatchObject({ end: 'lost', reason: 'expired' })
    expect(await telemetry.series('leasehold.jeopardy')).toMatchObject([
      { outcome: 'recovered', value: 1 },
      { outcome: 'lost', value: 1 },
    ])
  })

  it('link a term to the one before it, by the metadata of the lease, if asked', async () => {
    const [first, second] = [leaseFields('job-1'), leaseFields('job-1')]
    const written: Metadata[] = []
    const lease = { update: async (metadata: Metadata) => written.push(metadata) > 0 }
    const off = instrument()
    publish('acquired', { ...first, ...grant, lease, metadata: { port: '80' } })
    publish('released', { ...first, lease, end: 'released', held: 1 })
    expect(written).toEqual([])
    off.disable()

    instrument({ linkTerms: (name) => name === 'job-1' })
    publish('acquired', { ...first, ...grant, lease, metadata: { port: '80' } })
    publish('released', { ...first, lease, end: 'released', held: 1 })
    const before = telemetry.spans().at(-1)?.spanContext()
    expect(written).toEqual([{ port: '80', traceparent: `00-${before?.traceId}-${before?.spanId}-01` }])
    publish('acquired', { ...second, ...grant, lease, previous: written[0] })
    publish('lost', { ...second, lease, reason: 'expired', lost: {}, held: 1 })
    expect(
      telemetry
        .spans()
        .at(-1)
        ?.links.map((link) => link.context),
    ).toMatchObject([{ traceId: before?.traceId, spanId: before?.spanId, isRemote: true }])
    publish('acquired', { ...leaseFields('job-2'), ...grant, lease, previous: written[0] })
    publish('acquired', { ...leaseFields('job-1'), ...grant, lease, metadata: { recipe: 'schedule' } })
    expect(written).toHaveLength(2)
  })

  it('lack a link where the metadata cannot be written', async () => {
    instrument({ linkTerms: true })
    const update = async () => Promise.reject(new Error('no room'))
    publish('acquired', { ...leaseFields('job-1'), ...grant, lease: { update } })
    publish('acquired', { ...leaseFields('job-1'), ...grant, lease: {} })
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('survive a message that lacks its fields', () => {
    instrument()
    for (const name of ['acquired', 'lost', 'renewed', 'released', 'waiting', 'tick', 'permit']) publish(name, {})
  })
})
