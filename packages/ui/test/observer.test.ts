import {
  createLease,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  MemoryLeaseStore,
} from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { HistoryAnswer } from '../src/protocol.js'
import { change, errorOf, type OpenUi, openUi, Page, pass, request } from './support/open-ui.js'

const grant = (fields: Partial<LeaseRecord> & Pick<LeaseRecord, 'name'>): LeaseRecord => ({
  owner: 'worker-1',
  grantId: 'grant-1',
  fencingToken: 1n,
  ttl: 30_000,
  remaining: 30_000,
  state: 'leased',
  metadata: {},
  ...fields,
})

/** A store that answers with these records. */
function storeOf(clock: VirtualClock, records: () => readonly unknown[]): LeaseStore {
  return Object.assign(new MemoryLeaseStore({ clock }), {
    list: async function* () {
      yield* records() as LeaseRecord[]
    },
    read: async (name: string) => (records() as LeaseRecord[]).find((record) => record.name === name),
  })
}

async function historyOf(open: OpenUi, name: string): Promise<HistoryAnswer> {
  const asked = { names: [name], from: 0, to: open.clock.wall() }
  return (await (await open.ui.fetch(change('/api/history', asked, {}))).json()) as HistoryAnswer
}

describe('listing', () => {
  it('is done in each interval while somebody looks, and in each tenth while nobody does', async () => {
    const clock = new VirtualClock()
    const times: number[] = []
    const store = storeOf(clock, () => {
      times.push(clock.now())
      return []
    })
    const open = openUi({}, { clock, store })
    await pass(open, 60_000)
    expect(times).toEqual([])
    const page = await Page.open(open)
    await pass(open, 10_000)
    expect(times).toHaveLength(11)
    await page.close()
    times.length = 0
    await pass(open, 100_000)
    expect(times.length).toBeGreaterThanOrEqual(10)
    expect(times.length).toBeLessThanOrEqual(11)
    await Page.open(open)
    times.length = 0
    await pass(open, 5_000)
    expect(times.length).toBeGreaterThanOrEqual(5)
    await open.ui.close()
    times.length = 0
    await pass(open, 100_000)
    expect(times).toEqual([])
    expect(clock.pending).toBe(0)
  })

  it('shows only the names with the prefix, and reports a store that lists others', async () => {
    const clock = new VirtualClock()
    const store = storeOf(clock, () => [grant({ name: 'shop/a' }), grant({ name: 'other' })])
    const open = openUi({ prefix: 'shop/' }, { clock, store })
    const page = await Page.open(open)
    expect([...page.rows.keys()]).toEqual(['shop/a'])
    expect(page.of('findings').at(-1)).toMatchObject([{ kind: 'unfit-store' }])
    await open.ui.close()
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['an empty object', {}],
    ['a name without a grant', { name: 'a' }],
    ['an unknown state', grant({ name: 'a', state: 'lost' as never })],
    ['metadata that are no map', grant({ name: 'a', metadata: 7 as never })],
  ])('of a store that answers with %s keeps the last list, with the error and its age', async (_, nonsense) => {
    const clock = new VirtualClock()
    let answer: readonly unknown[] = [grant({ name: 'good' })]
    const open = openUi({}, { clock, store: storeOf(clock, () => answer) })
    const page = await Page.open(open)
    answer = [nonsense]
    await pass(open, 30_000)
    expect([...page.rows.keys()]).toEqual(['good'])
    const last = page.of('freshness').at(-1)
    expect(last?.error?.code).toBe('unavailable')
    expect(last?.age).toBeGreaterThan(25_000)
    answer = [grant({ name: 'good' })]
    await pass(open, 20_000)
    expect(page.of('freshness').at(-1)?.error).toBeUndefined()
    await open.ui.close()
  })

  it('of a store that cannot list says so', async () => {
    const clock = new VirtualClock()
    const store: LeaseStore = new MemoryLeaseStore({ clock })
    Object.assign(store, { list: undefined })
    const open = openUi({}, { clock, store })
    const page = await Page.open(open)
    await pass(open, 9_000)
    expect(page.of('freshness').at(-1)?.age).toBeGreaterThanOrEqual(8_000)
    expect(page.of('freshness').at(-1)?.error).toEqual({
      code: 'configuration',
      message: 'the memory store cannot list leases',
    })
    expect(page.of('list')).toEqual([])
    await open.ui.close()
  })

  it('of a store that hangs ends in its time limit, and the page is told how old the list is', async () => {
    const clock = new VirtualClock()
    let isHanging = false
    const store: LeaseStore = Object.assign(new MemoryLeaseStore({ clock }), {
      list: async function* () {
        if (isHanging) await new Promise(() => {})
        yield grant({ name: 'a' })
      },
    })
    const open = openUi({ timeout: 2_000 }, { clock, store })
    const page = await Page.open(open)
    isHanging = true
    await pass(open, 30_000)
    expect(page.of('freshness').at(-1)?.error?.code).toBe('timeout')
    expect(page.of('freshness').at(-1)?.age).toBeGreaterThan(25_000)
    expect(page.of('freshness').length).toBeGreaterThanOrEqual(30)
    // An outage takes few lines of the log.
    expect(open.logged.length).toBeLessThan(5)
    await open.ui.close()
  })

  it('of more names than a page can have is refused', async () => {
    const clock = new VirtualClock()
    const store: LeaseStore = Object.assign(new MemoryLeaseStore({ clock }), {
      list: async function* () {
        for (let index = 0; ; index += 1) yield grant({ name: `lease-${index}` })
      },
    })
    const open = openUi({ timeout: 600_000 }, { clock, store })
    const page = await Page.open(open)
    await pass(open, 1_000)
    expect(page.of('freshness').at(-1)?.error?.message).toContain('set prefix')
    await open.ui.close()
  })
})

describe('one lease', () => {
  it('is read now, with its metadata', async () => {
    const open = openUi()
    const lease = createLease(open.store, 'orders', { owner: 'worker-1', clock: open.clock })
    await lease.acquire({ metadata: { job: '7' } })
    const response = await open.ui.fetch(request('/api/lease?name=orders'))
    expect(await response.json()).toMatchObject({ row: { owner: 'worker-1' }, metadata: { job: '7' }, related: [] })
    expect((await open.ui.fetch(request('/api/lease?name=none'))).status).toBe(404)
    expect((await open.ui.fetch(request('/api/lease'))).status).toBe(400)
    await lease.release()
    await open.ui.close()
  })

  it('is answered with 503 while the store is down, or has enough to do', async () => {
    const clock = new VirtualClock()
    const store: LeaseStore = new MemoryLeaseStore({ clock })
    let read: () => Promise<undefined> = async () => {
      throw new LeaseUnavailableError('the store is down: start it')
    }
    store.read = () => read()
    const open = openUi({}, { clock, store })
    const down = await open.ui.fetch(request('/api/lease?name=a'))
    expect(down.status).toBe(503)
    expect(await errorOf(down)).toEqual({ code: 'unavailable', message: 'the store is down: start it' })
    read = () => new Promise(() => {})
    const asked = Array.from({ length: 9 }, () => open.ui.fetch(request('/api/lease?name=a')))
    const busy = await asked.at(-1)
    expect(busy?.status).toBe(503)
    expect(busy?.headers.get('retry-after')).toBe('1')
    await pass(open, 5_000)
    expect((await asked[0])?.status).toBe(503)
    await open.ui.close()
  })

  it('that is watched is shown before the next listing', async () => {
    const open = openUi({ interval: 20_000 })
    const page = await Page.open(open, '?watch=orders')
    const lease = createLease(open.store, 'orders', { owner: 'worker-1', clock: open.clock })
    await lease.acquire()
    await pass(open, 20_000)
    await lease.release()
    await pass(open, 1_100)
    expect(page.rows.get('orders')).toMatchObject({ state: 'available' })
    await page.close()
    await open.ui.close()
    await pass(open, 60_000)
    expect(open.clock.pending).toBe(0)
  })
})

describe('the timeline', () => {
  it('has the holders in their order, and how each of them ended', async () => {
    const open = openUi()
    await Page.open(open)
    const start = open.clock.wall()
    const first = createLease(open.store, 'orders', { owner: 'first', clock: open.clock })
    await first.acquire()
    await pass(open, 5_000)
    await first.release()
    await pass(open, 5_000)
    const second = createLease(open.store, 'orders', { owner: 'second', clock: open.clock })
    await second.acquire()
    await pass(open, 5_000)
    const { spans, observedSince, blind, isCut } = await historyOf(open, 'orders')
    expect({ observedSince, blind, isCut }).toEqual({ observedSince: start, blind: [], isCut: [] })
    expect(spans.orders).toMatchObject([
      { owner: 'first', token: '1', end: 'released' },
      { owner: 'second', token: '2' },
    ])
    expect(spans.orders?.[0]?.to).toBeLessThanOrEqual(start + 7_000)
    expect(spans.orders?.[1]?.to).toBeUndefined()
    await second.release()
    await open.ui.close()
  })

  it('knows a lease that expired, one that was broken, and one that is gone', async () => {
    const clock = new VirtualClock()
    let records = ['dead', 'broken', 'gone'].map((name) => grant({ name, remaining: 2_500 }))
    const open = openUi({}, { clock, store: storeOf(clock, () => records) })
    const start = clock.wall()
    await Page.open(open)
    records = [grant({ name: 'dead', state: 'expired' }), grant({ name: 'broken', state: 'broken' })]
    await pass(open, 5_000)
    expect((await historyOf(open, 'dead')).spans.dead).toMatchObject([{ end: 'expired' }])
    expect((await historyOf(open, 'broken')).spans.broken).toMatchObject([{ end: 'broken' }])
    expect((await historyOf(open, 'gone')).spans.gone).toMatchObject([
      { end: 'unknown', from: start, to: start + 1_000 },
    ])
    await open.ui.close()
  })

  it('tells a killed holder from one that gave the name up, if the next one is there at once', async () => {
    const clock = new VirtualClock()
    let records = [grant({ name: 'killed', remaining: 700 }), grant({ name: 'given', remaining: 20_000 })]
    const open = openUi({}, { clock, store: storeOf(clock, () => records) })
    await Page.open(open)
    records = ['killed', 'given'].map((name) => grant({ name, owner: 'next', grantId: 'grant-2', fencingToken: 2n }))
    await pass(open, 2_000)
    expect((await historyOf(open, 'killed')).spans.killed).toMatchObject([{ end: 'expired' }, { owner: 'next' }])
    expect((await historyOf(open, 'given')).spans.given).toMatchObject([{ end: 'released' }, { owner: 'next' }])
    await open.ui.close()
  })

  it('says when the server could not look', async () => {
    const clock = new VirtualClock()
    let isDown = false
    const store = storeOf(clock, () => {
      if (isDown) throw new Error('down')
      return [grant({ name: 'a' })]
    })
    const open = openUi({}, { clock, store })
    const start = clock.wall()
    await Page.open(open)
    isDown = true
    await pass(open, 30_000)
    expect((await historyOf(open, 'a')).blind).toEqual([{ from: start }])
    isDown = false
    await pass(open, 20_000)
    expect((await historyOf(open, 'a')).blind).toMatchObject([{ from: start, to: expect.any(Number) }])
    await open.ui.close()
  })

  it('has no gap because nobody looked for a while', async () => {
    const open = openUi()
    await (await Page.open(open)).close()
    for (const passed of [3_000, 7_000, 9_500, 31_000]) {
      await pass(open, passed)
      const page = await Page.open(open)
      await pass(open, 3_000)
      await page.close()
    }
    expect((await historyOf(open, 'a')).blind).toEqual([])
    await open.ui.close()
  })

  it('refuses a request that is not valid', async () => {
    const open = openUi()
    const names = Array.from({ length: 501 }, String)
    for (const body of [
      {},
      { names, from: 0, to: 1 },
      { names: [7], from: 0, to: 1 },
      { names: [], from: 'a', to: 1 },
    ]) {
      expect((await open.ui.fetch(change('/api/history', body, {}))).status).toBe(400)
    }
    await open.ui.close()
  })
})

describe('findings', () => {
  it('a token that shrank, also of a name that was gone in between', async () => {
    const clock = new VirtualClock()
    let records = [grant({ name: 'a', fencingToken: 7n })]
    const open = openUi({}, { clock, store: storeOf(clock, () => records) })
    const page = await Page.open(open)
    records = []
    await pass(open, 1_000)
    records = [grant({ name: 'a', fencingToken: 3n, grantId: 'grant-2' })]
    await pass(open, 2_000)
    expect(page.of('findings').at(-1)).toMatchObject([{ kind: 'token-shrank', leaseName: 'a' }])
    expect(page.of('findings').at(-1)?.[0]?.message).toContain('was 7, and is 3 now')
    await open.ui.close()
  })

  it('no smaller token if only the listing is old', async () => {
    const clock = new VirtualClock()
    let listed = [grant({ name: 'a', fencingToken: 7n })]
    const store = Object.assign(
      storeOf(clock, () => listed),
      { read: async () => grant({ name: 'a', fencingToken: 8n }) },
    )
    const open = openUi({}, { clock, store })
    const page = await Page.open(open)
    await open.ui.fetch(request('/api/lease?name=a'))
    listed = [grant({ name: 'a', fencingToken: 6n })]
    await pass(open, 5_000)
    expect(page.of('findings').at(-1)).toEqual([])
    await open.ui.close()
  })

  it('two grants with one token', async () => {
    const clock = new VirtualClock()
    let records = [grant({ name: 'a' })]
    const open = openUi({}, { clock, store: storeOf(clock, () => records) })
    const page = await Page.open(open)
    records = [grant({ name: 'a', owner: 'worker-2', grantId: 'grant-2' })]
    await pass(open, 1_000)
    expect(page.of('findings').at(-1)).toMatchObject([{ kind: 'two-holders', leaseName: 'a' }])
    await open.ui.close()
  })

  it('another holder while a lease of this process is held, and none after it has noticed', async () => {
    const clock = new VirtualClock()
    const memory = new MemoryLeaseStore({ clock })
    let other: LeaseRecord | undefined
    const store: LeaseStore = Object.assign(new MemoryLeaseStore({ clock }), {
      acquire: memory.acquire.bind(memory),
      renew: memory.renew.bind(memory),
      renewMany: memory.renewMany.bind(memory),
      release: memory.release.bind(memory),
      read: async (...given: Parameters<LeaseStore['read']>) => other ?? (await memory.read(...given)),
      list: async function* (...given: Parameters<typeof memory.list>) {
        if (other === undefined) yield* memory.list(...given)
        else yield other
      },
    })
    const open = openUi({}, { clock, store })
    const page = await Page.open(open)
    const lease = createLease(store, 'orders', { owner: 'here', clock })
    await lease.acquire()
    await pass(open, 2_000)
    expect(page.of('findings').at(-1)).toEqual([])
    other = grant({ name: 'orders', owner: 'there', fencingToken: 9n, grantId: 'grant-9' })
    await pass(open, 1_000)
    expect(page.of('findings').at(-1)).toMatchObject([{ kind: 'two-holders', leaseName: 'orders' }])
    expect(page.of('findings').at(-1)?.[0]?.message).toContain("held by 'here' of this process")
    await lease.release()
    await open.ui.close()
  })

  it('no finding when a lease passes on from one owner to the next', async () => {
    const open = openUi()
    const page = await Page.open(open)
    for (let round = 0; round < 5; round += 1) {
      const lease = createLease(open.store, 'orders', { owner: `worker-${round}`, clock: open.clock })
      await lease.acquire()
      await pass(open, 3_000)
      await lease.release()
    }
    expect(page.of('findings')).toEqual([[]])
    await open.ui.close()
  })

  it('a store whose probe fails', async () => {
    const clock = new VirtualClock()
    const store: LeaseStore = new MemoryLeaseStore({ clock })
    store.probe = async () => [
      { check: 'eviction', result: 'failed', found: 'maxmemory-policy is allkeys-lru', change: 'set noeviction' },
      { check: 'clock', result: 'warning', found: 'slow' },
    ]
    const open = openUi({}, { clock, store })
    const page = await Page.open(open)
    await pass(open, 1_000)
    expect(page.of('findings').at(-1)).toMatchObject([
      {
        kind: 'unfit-store',
        message: expect.stringContaining('maxmemory-policy is allkeys-lru. Change this: set noeviction.'),
      },
    ])
    await open.ui.close()
  })
})
