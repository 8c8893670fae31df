import { createLease } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { openUi, Page, pass } from './support/open-ui.js'

describe('the stream of events', () => {
  it('begins with who reads what, and the whole list', async () => {
    const open = openUi({ title: 'shop' })
    const lease = createLease(open.store, 'orders', { owner: 'worker-1', clock: open.clock })
    await lease.acquire()
    const page = await Page.open(open)
    expect(page.hello).toMatchObject({ title: 'shop', store: 'memory', access: 'read', prefix: '', canBreak: true })
    expect(page.hello.changeToken).toBeUndefined()
    expect(page.of('list')).toMatchObject([
      { isFirst: true, isLast: true, rows: [{ name: 'orders', owner: 'worker-1' }] },
    ])
    expect(page.of('freshness').at(-1)).toEqual({ age: 0 })
    await open.ui.close()
    await pass(open, 0)
    expect(page.isOver).toBe(true)
  })

  it('tells of new rows, of other states, and of names that are gone', async () => {
    const open = openUi()
    const page = await Page.open(open)
    const lease = createLease(open.store, 'orders', { owner: 'worker-1', clock: open.clock })
    await lease.acquire()
    await pass(open, 1_000)
    expect(page.rows.get('orders')).toMatchObject({ state: 'leased', owner: 'worker-1' })
    await lease.release()
    await pass(open, 1_000)
    expect(page.rows.get('orders')).toMatchObject({ state: 'available', owner: '' })
    await open.ui.close()
  })

  it('tells of a heartbeat only when the page shows a time that is too far from the right one', async () => {
    const open = openUi()
    const lease = createLease(open.store, 'orders', {
      heartbeatInterval: 2_000,
      heartbeatTimeout: 12_000,
      clock: open.clock,
    })
    await lease.acquire()
    const page = await Page.open(open)
    await pass(open, 60_000)
    const renewed = page.of('changes').flatMap(({ renewed = [] }) => renewed)
    expect(page.of('changes').flatMap(({ rows = [] }) => rows)).toEqual([])
    expect(renewed.length).toBeGreaterThanOrEqual(10)
    expect(renewed.length).toBeLessThanOrEqual(20)
    expect(lease.state).toBe('held')
    await lease.release()
    await open.ui.close()
  })

  it('tells at least once in each interval how old the list is', async () => {
    const open = openUi({ interval: 500 })
    const page = await Page.open(open)
    const before = page.of('freshness').length
    await pass(open, 10_000)
    expect(page.of('freshness').length - before).toBeGreaterThanOrEqual(20)
    await open.ui.close()
  })
})
