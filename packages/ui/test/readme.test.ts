import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it, onTestFinished } from 'vitest'
import { leasesFor } from './readme/access.js'
import { showLeases } from './readme/first-page.js'

it('the example shows the page at its root', async () => {
  const store = new MemoryLeaseStore()
  const server = showLeases(store, 'a-token-of-the-test-of-the-readme', 0)
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await store.close()
  })
  await once(server, 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('<title>')])
})

it('the route of Next answers requests below its path', async () => {
  const { GET, POST } = await import('./readme/next-route.js')
  const page = await GET(new Request('https://shop.example/leases/'))
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')])
  const change = await POST(new Request('https://shop.example/leases/api/break', { method: 'POST', body: '{}' }))
  expect(change.status).toBe(401)
})

it('the example with sessions admits those who are signed in, and admins to changes', async () => {
  const store = new MemoryLeaseStore()
  const users = new Map([
    ['sid=1', { name: 'ada', isAdmin: true }],
    ['sid=2', { name: 'bob', isAdmin: false }],
  ])
  const ui = leasesFor(store, { find: async (cookie) => users.get(cookie) })
  onTestFinished(async () => {
    await ui.close()
    await store.close()
  })
  const statusOf = async (cookie: string, path = 'api/history') => {
    const request = new Request(`https://shop.example/leases/${path}`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json', origin: 'https://shop.example' },
      body: JSON.stringify({ names: [], from: 0, to: 1 }),
    })
    return (await ui.fetch(request)).status
  }
  expect([await statusOf('sid=1'), await statusOf('sid=2'), await statusOf('sid=3')]).toEqual([200, 200, 401])
  expect([await statusOf('sid=2', 'api/break'), await statusOf('sid=3', 'api/break')]).toEqual([403, 401])
})
