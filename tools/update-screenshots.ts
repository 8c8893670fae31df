/**
 * `npm run docs:screenshots [-- FOLDER]`: pictures of each view of the page of `@leasehold/ui`, in three widths and both schemes,
 * of a shop whose last three hours pass in virtual time. Without a folder, the pictures that the guide uses are written into
 * `docs/images/ui`.
 */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchChromium } from '@leasehold/testing/launch-chromium'
import { VirtualClock } from '@leasehold/testkit'
import { LeaseUi } from '@leasehold/ui'
import type { Browser, Page } from 'playwright-core'
import { Shop } from './screenshots/shop.js'
import { root } from './workspaces.js'

const token = 'a-token-of-the-pictures'

/** The wall clock of a virtual clock begins here. */
const EPOCH = new VirtualClock().wall()

/** A little more than the shop plays. */
const PLAYED = 160 * 60_000

const widths = { phone: 360, laptop: 900, wide: 1_600 } as const
const schemes = ['light', 'dark'] as const
const routes = ['', 'timeline', 'elections', 'schedules', 'semaphores', 'groups', 'lease/orders%2Fimport'] as const

/** The pictures in the guide: name, route, width and scheme. */
const kept = [
  ['leases', '?sort=since', 'wide', 'light'],
  ['timeline', 'timeline?sort=since', 'wide', 'dark'],
  ['lease', 'lease/orders%2Fimport', 'laptop', 'light'],
  ['schedules', 'schedules', 'laptop', 'light'],
  ['groups', 'groups', 'laptop', 'dark'],
  ['phone', '', 'phone', 'dark'],
] as const

async function picture(
  browser: Browser,
  url: string,
  route: string,
  width: number,
  scheme: 'light' | 'dark',
  file: string,
) {
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 740 : width < 1_000 ? 700 : 900 },
    colorScheme: scheme,
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  const page: Page = await context.newPage()
  await page.goto(`${url}#token=${token}`)
  await page.getByRole('row').nth(3).waitFor()
  await page.evaluate(`void (location.hash = '#/${route}')`)
  await sleep(1_500)
  await page.screenshot({ path: file })
  await context.close()
}

const [folder] = process.argv.slice(2)
const clock = new VirtualClock({ skew: Date.now() - EPOCH - PLAYED })
const shop = new Shop(clock)
const ui = new LeaseUi(shop.store, { token, writable: true, title: 'Shop', clock })
const server = createServer((request, response) => void ui.handle(request, response))
server.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

// The page observes from the first request on.
await fetch(`${url}api/lease?name=x`, { headers: { authorization: `Bearer ${token}` } })
await shop.play()
const behind = Date.now() - clock.wall()
if (behind > 0) await clock.advance(behind)
let isOver = false
const running = (async () => {
  while (!isOver) {
    await sleep(50)
    await clock.advance(Math.max(Date.now() - clock.wall(), 0))
  }
})()

const browser = await launchChromium()
if (folder === undefined) {
  const images = join(root, 'docs/images/ui')
  mkdirSync(images, { recursive: true })
  for (const [name, route, width, scheme] of kept)
    await picture(browser, url, route, widths[width], scheme, join(images, `${name}.png`))
} else {
  mkdirSync(folder, { recursive: true })
  for (const route of routes)
    for (const width of Object.values(widths))
      for (const scheme of schemes) {
        const name = route === '' ? 'leases' : (route.split('/')[0] ?? route)
        await picture(browser, url, route, width, scheme, join(folder, `${name}-${width}-${scheme}.png`))
      }
}
await browser.close()
isOver = true
await running
await ui.close()
await shop.stop()
server.closeAllConnections()
server.close()
process.exit()
