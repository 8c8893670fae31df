import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { eventually, type Finishing } from '@leasehold/testing'
import { describeChromium } from '@leasehold/testing/describe-chromium'
import { oneBrowser } from '@leasehold/testing/one-browser'
import { describe, it } from 'vitest'
import { LeasePage } from './support/lease-page.js'
import { SeveredStore } from './support/severed-store.js'
import { TOKEN, UiServer } from './support/ui-server.js'

/** Chromium writes this into the console for each answer of this status. */
const refused = (status: number) => new RegExp(`status of ${status}`)

/** For a server that is not there. */
const unreachable =
  /ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)/

async function storeWithLease(test: Finishing): Promise<MemoryLeaseStore> {
  const store = new MemoryLeaseStore()
  const lease = createLease(store, 'orders/import', { owner: 'ada', heartbeatTimeout: 10_000 })
  await lease.acquire()
  test.onTestFinished(async () => {
    await lease.release()
    await store.close()
  })
  return store
}

describeChromium('who may see the page', () => {
  const browser = oneBrowser()

  describe.concurrent('with a token', () => {
    it('comes in by a link, whose token leaves the address at once, and stays in after a reload', async (test) => {
      const { expect } = test
      const server = await UiServer.start(test, await storeWithLease(test))
      const page = await LeasePage.open(test, browser(), server)
      await page.row('orders/import').waitFor()
      expect(page.reader.page.url()).not.toContain('token')
      expect(await page.reader.evaluate('document.title + JSON.stringify(history.state)')).not.toContain(TOKEN)
      await page.reader.page.reload()
      await page.row('orders/import').waitFor()
      // Each request was checked, too: see Reader.
      expect(page.reader.requests.length).toBeGreaterThan(3)
      expect(await page.reader.evaluate('document.cookie + JSON.stringify(localStorage)')).not.toContain(TOKEN)
    })

    it('asks for the token, refuses a wrong one, and takes the right one', async (test) => {
      const server = await UiServer.start(test, await storeWithLease(test))
      const page = await LeasePage.come(test, browser(), server, { expected: [refused(401)] })
      await page.reader.page.goto(server.url)
      await page.enterToken('a-wrong-token-of-20')
      await page.reader.page.getByRole('alert').waitFor()
      test.expect(await page.row('orders/import').count()).toBe(0)
      await page.enterToken(TOKEN)
      await page.row('orders/import').waitFor()
    })

    it('does not offer what the reader may not do', async (test) => {
      const server = await UiServer.start(test, await storeWithLease(test), { writable: false })
      const page = await LeasePage.open(test, browser(), server)
      await page.openLease('orders/import')
      await page.reader.page.getByText('ada').first().waitFor()
      test.expect(await page.reader.page.getByRole('button', { name: /break/i }).count()).toBe(0)
    })
  })

  describe.concurrent('by the authentication of the host', () => {
    it('comes in without a token, below a path', async (test) => {
      const authorize = () => ({ access: 'read' as const, name: 'Ada' })
      const server = await UiServer.start(test, await storeWithLease(test), { authorize, path: '/admin/leases' })
      const page = await LeasePage.come(test, browser(), server)
      // Without the slash at its end, as people type it.
      await page.reader.page.goto(server.url.slice(0, -1))
      await page.row('orders/import').waitFor()
    })
  })

  describe.concurrent('while server and store come and go', () => {
    it('shows that the server is away, and goes on when it is back', async (test) => {
      const { expect } = test
      const store = await storeWithLease(test)
      const server = await UiServer.start(test, store)
      const page = await LeasePage.open(test, browser(), server, { expected: [unreachable] })
      await page.row('orders/import').waitFor()
      await server.stop()
      await page.staleness.waitFor()
      // The page still shows the last list.
      expect(await page.row('orders/import').textContent()).toContain('ada')
      const next = createLease(store, 'orders/export', { owner: 'bob', heartbeatTimeout: 10_000 })
      await next.acquire()
      await server.start()
      await page.row('orders/export').waitFor()
      await page.staleness.waitFor({ state: 'hidden' })
      await next.release()
    })

    it('shows the age of a list while the store does not answer, and goes on when it does', async (test) => {
      const { expect } = test
      const way = new SeveredStore(await storeWithLease(test))
      const server = await UiServer.start(test, way.store, { timeout: 500 })
      const page = await LeasePage.open(test, browser(), server)
      await page.row('orders/import').waitFor()
      way.cut()
      await page.staleness.waitFor()
      const ages = new Set<string>()
      await eventually('the age grows', async () => {
        ages.add(/\d+\s*s/.exec((await page.staleness.textContent()) ?? '')?.[0] ?? '')
        return ages.size >= 2
      })
      expect(await page.row('orders/import').textContent()).toContain('ada')
      way.mend()
      await page.staleness.waitFor({ state: 'hidden' })
    })
  })
})
