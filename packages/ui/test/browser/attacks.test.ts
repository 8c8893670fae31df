import { createLease, type LeaseStore, MemoryLeaseStore, readLease } from '@leasehold/core'
import { eventually, type Finishing, silentLogger } from '@leasehold/testing'
import { describeChromium } from '@leasehold/testing/describe-chromium'
import { oneBrowser } from '@leasehold/testing/one-browser'
import type { Browser } from 'playwright-core'
import { describe, it } from 'vitest'
import { attacks, startAttacker } from './support/attacker.js'
import { damage, hostileTexts } from './support/hostile.js'
import { LeasePage, VIEWS } from './support/lease-page.js'
import { TOKEN, UiServer } from './support/ui-server.js'

const TTL = 60_000

/** Leases whose names, owners and metadata are hostile, held, broken for hostile reasons, and of recipes. */
async function hostileStore(test: Finishing): Promise<MemoryLeaseStore> {
  const store = new MemoryLeaseStore()
  test.onTestFinished(() => store.close())
  const hold = (name: string, owner: string, metadata: Record<string, string>) =>
    store.acquire({ name, owner, grantId: crypto.randomUUID(), ttl: TTL, metadata })
  for (const [place, text] of hostileTexts.entries()) {
    await hold(text, text, Object.fromEntries([[`${place}${text}`.slice(0, 200), text]]))
    await hold(`broken ${place}`, 'ada', {})
    await store.break(`broken ${place}`, { period: 0, reason: text.slice(0, 500) })
    await hold(`election ${place} ${text}`.slice(0, 900), text, { kind: 'leader-election', text })
  }
  return store
}

describeChromium('the page under attack', () => {
  const browser = oneBrowser()

  describe.concurrent('by texts of others', () => textAttacks(browser))
  describe.concurrent('by a page of another origin that its reader visits', () => pageAttacks(browser))
})

function textAttacks(browser: () => Browser): void {
  it('are shown as texts in each view, and nothing of them is executed', async (test) => {
    const { expect } = test
    const server = await UiServer.start(test, await hostileStore(test))
    const page = await LeasePage.open(test, browser(), server, { height: 4_000 })
    await page.reader.page.getByRole('row').nth(5).waitFor()
    for (const view of VIEWS) {
      await page.view(view)
      expect(await page.reader.evaluate(damage), view).toEqual([])
    }
  })

  it('are shown in the page of a lease, whose name may be any text', async (test) => {
    const { expect } = test
    const server = await UiServer.start(test, await hostileStore(test))
    const page = await LeasePage.open(test, browser(), server)
    await page.reader.page.getByRole('row').nth(5).waitFor()
    const look = async (name: string, text: string) => {
      await page.goToLease(name)
      // In the main part, once it has read the lease.
      const shows = `document.querySelector('main dl') !== null && document.querySelector('main').textContent.includes(${JSON.stringify(text)})`
      await eventually(`the page shows ${text}`, () => page.reader.evaluate(shows))
      expect(await page.reader.evaluate(damage), text).toEqual([])
    }
    for (const text of hostileTexts) await look(text, text)
    // As the reason of a break: those with markup.
    for (const [place, text] of hostileTexts.entries()) {
      if (text.includes('<')) await look(`broken ${place}`, text.slice(0, 500))
    }
  })
}

/** The reader is logged in at the host of the page, and any cookie is sent to it. */
const byCookie = (request: { header(name: string): string | undefined }) =>
  request.header('cookie')?.includes('session=good') === true ? { access: 'write' as const, name: 'Ada' } : undefined

async function lockedStore(test: Finishing): Promise<LeaseStore> {
  const store = new MemoryLeaseStore()
  const lease = createLease(store, 'orders/import', { owner: 'ada', heartbeatTimeout: TTL, logger: silentLogger })
  await lease.acquire()
  test.onTestFinished(async () => {
    await lease.release()
    await store.close()
  })
  return store
}

function pageAttacks(browser: () => Browser): void {
  for (const site of ['sameSite', 'otherSite'] as const) {
    it(`can neither read nor change anything, with the cookies of its reader (${site})`, async (test) => {
      const { expect } = test
      const store = await lockedStore(test)
      const server = await UiServer.start(test, store, { authorize: byCookie })
      const attacker = await startAttacker(test)
      const page = await LeasePage.come(test, browser(), server, {
        origins: [server.origin, new URL(attacker[site]).origin],
        // It is rejected in many ways.
        expected: [/./],
      })
      await page.reader.context.addCookies([{ name: 'session', value: 'good', url: server.origin, sameSite: 'Lax' }])
      // The cookie works.
      await page.reader.page.goto(server.url)
      await page.row('orders/import').waitFor()
      await page.reader.page.goto(attacker[site])
      for (const { title, expression } of attacks('orders/import')) {
        expect(await page.reader.evaluate(expression(server.url)), title).not.toMatch(
          /orders|ada|changeToken|loaded|200/,
        )
        expect(await readLease(store, 'orders/import'), title).toMatchObject({ state: 'leased', owner: 'ada' })
      }
    })
  }

  it('cannot frame it', async (test) => {
    const { expect } = test
    const server = await UiServer.start(test, await lockedStore(test), { authorize: byCookie })
    const attacker = await startAttacker(test)
    const page = await LeasePage.come(test, browser(), server, {
      origins: [server.origin, new URL(attacker.sameSite).origin],
      expected: [/frame-ancestors|X-Frame-Options|frame/i],
    })
    await page.reader.context.addCookies([{ name: 'session', value: 'good', url: server.origin, sameSite: 'Lax' }])
    await page.reader.page.goto(attacker.sameSite)
    await page.reader.evaluate(
      `new Promise((resolve) => {
        const frame = document.createElement('iframe')
        frame.src = ${JSON.stringify(server.url)}
        frame.addEventListener('load', resolve)
        document.body.append(frame)
      })`,
    )
    const frames = page.reader.page.frames().filter((frame) => frame.parentFrame() !== null)
    expect(frames).toHaveLength(1)
    for (const frame of frames) expect(frame.url()).toMatch(/^chrome-error:/)
  })

  it('cannot read the token of a page that its reader has open', async (test) => {
    const { expect } = test
    const server = await UiServer.start(test, await lockedStore(test))
    const attacker = await startAttacker(test)
    const page = await LeasePage.come(test, browser(), server, {
      origins: [server.origin, new URL(attacker.otherSite).origin],
    })
    await page.reader.page.goto(attacker.otherSite)
    const opening = page.reader.context.waitForEvent('page')
    await page.reader.evaluate(`void (globalThis.opened = window.open(${JSON.stringify(server.urlWithToken)}))`)
    const opened = await opening
    await opened.getByText('orders/import').first().waitFor()
    const seen = await page.reader.evaluate<string>(`(() => {
      const read = (what) => { try { return String(what()) } catch (error) { return error.name } }
      return [read(() => opened.location.href), read(() => opened.document.body.innerText), read(() => opened.sessionStorage.length), read(() => opened.closed)].join(' ')
    })()`)
    expect(seen).not.toContain(TOKEN)
    // A policy of the page cuts the window off, so that it looks closed.
    expect(seen).toMatch(/^(SecurityError|undefined|TypeError)/)
  })
}
